import { OPTIONS, type Options } from '../../core/options/options.ts';
import { currentUid } from '../../disk/folder-owner.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { isPrompt } from '../../language/state-names.ts';
import type { Workflow } from '../../workflow/workflow.ts';

/** Refuses options that Claude Code surely does not understand, and returns warnings about those that it may not. */
export function checkClaudeWords(options: Partial<Options>): readonly string[] {
  return OPTIONS.flatMap(({ name, type }) => {
    const value = options[name];
    const problem = typeof value === 'string' ? type.findProblem?.(value) : undefined;
    if (problem === undefined) return [];
    if (!problem.isCertain) return [problem.message];
    throw new RaymondError(problem.message, { exitCode: EXIT.usage, hint: problem.hint });
  });
}

const SKIP_ALL = 'bypassPermissions';

/** Explains before a run, and not in its first turn, that Claude Code lets root skip permissions only in a sandbox. */
export function refuseSkippingAsRoot(
  { source }: Pick<Workflow, 'source'>,
  { agent, skipPermissions, permissionMode }: Options,
  env: NodeJS.ProcessEnv,
  uid = currentUid(),
): void {
  if (uid !== 0 || agent !== 'claude' || env.IS_SANDBOX === '1' || env.CLAUDE_CODE_BUBBLEWRAP) return;
  const skipsByDefault = skipPermissions || permissionMode === SKIP_ALL;
  const refused = source.files.find((file) => {
    if (file.kind !== 'state' || !isPrompt(file.file)) return false;
    const { permissionMode: ownMode } = file.state;
    return ownMode === null ? skipsByDefault : ownMode === SKIP_ALL;
  });
  if (refused === undefined) return;
  throw new RaymondError(`Claude Code does not let root skip permissions, as ${refused.file} would`, {
    exitCode: EXIT.usage,
    hint: 'Run Raymond as another user. In a container that you can afford to lose, set IS_SANDBOX=1.',
  });
}
