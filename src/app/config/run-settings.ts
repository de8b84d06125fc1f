import { resolve } from 'node:path';
import { DEFAULT_OPTIONS, mergeOptions, OPTIONS, type Options, overlayOptions } from '../../core/options/options.ts';
import { choosePermissionMode, isSandboxed, SANDBOXED_MODE } from '../../core/options/sandbox-options.ts';
import { resolveWorkspace } from '../../core/run/workspace.ts';
import { currentUid } from '../../disk/files.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { isPrompt } from '../../language/state-names.ts';
import {
  type ManifestAndSource,
  manifestOptions,
  requirePeople,
  resolveWorkingDirectory,
} from '../../wiring/manifest-settings.ts';
import type { Workflow } from '../../workflow/workflow.ts';

/** The options of a run, and the folder that its agents work in. */
interface SettledRun {
  readonly options: Options;
  readonly workFolder: string;
}

/**
 * Settles what a run gets from the manifest and from the user; throws if the two exclude each other. Runs and lint both ask
 * here, so that lint reports what a run refuses.
 */
export function settleRun(
  workflow: ManifestAndSource,
  requested: Partial<Options>,
  cwd: string,
  ignoresWorkingDirectory = false,
): SettledRun {
  const { manifest } = workflow;
  const merged = mergeOptions(DEFAULT_OPTIONS, overlayOptions(manifestOptions(manifest), requested));
  const options = withAbsoluteWorkspace(merged, cwd);
  const workFolder = ignoresWorkingDirectory ? cwd : resolveWorkingDirectory(manifest, options, cwd);
  requirePeople(workflow, options);
  return { options, workFolder };
}

const withAbsoluteWorkspace = (options: Options, cwd: string): Options =>
  options.workspace === null
    ? options
    : { ...options, workspace: resolveWorkspace(options.workspace, (path) => resolve(cwd, path)) };

/** Refuses options that Claude Code surely does not understand, and returns warnings about those that it may not. */
export function checkClaudeValues(options: Partial<Options>): readonly string[] {
  return OPTIONS.flatMap(({ name, type }) => {
    const value = options[name];
    const problem = typeof value === 'string' ? type.findProblem?.(value) : undefined;
    if (problem === undefined) return [];
    if (!problem.isCertain) return [problem.message];
    throw new RaymondError(problem.message, { exitCode: EXIT.usage, hint: problem.hint });
  });
}

/** Explains before a run, and not in its first turn, that Claude Code lets root skip permissions only in a sandbox. */
export function refuseSkippingAsRoot(
  { source }: Pick<Workflow, 'source'>,
  options: Options,
  env: NodeJS.ProcessEnv,
  uid = currentUid(),
): void {
  if (uid !== 0 || options.agent !== 'claude' || env.IS_SANDBOX === '1' || env.CLAUDE_CODE_BUBBLEWRAP) return;
  const refused = source.files.find((file) => {
    if (file.kind !== 'state' || !isPrompt(file.file)) return false;
    return !isSandboxed(options, file.state) && choosePermissionMode(options, file.state) === SANDBOXED_MODE;
  });
  if (refused === undefined) return;
  throw new RaymondError(`Claude Code does not let root skip permissions, as ${refused.file} would`, {
    exitCode: EXIT.usage,
    hint: 'Use --sandbox, or run Raymond as another user. In a container that you can afford to lose, set IS_SANDBOX=1.',
  });
}
