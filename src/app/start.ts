import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { DEFAULT_OPTIONS, mergeOptions, type Options } from '../core/options/options.ts';
import type { Event } from '../core/run/event.ts';
import { newRunId } from '../core/run/ids.ts';
import { newRun } from '../core/run/run.ts';
import { initialEvents } from '../core/step.ts';
import { findLayout } from '../disk/layout.ts';
import { safeNamesWarnings } from '../language/environment-names.ts';
import { isPrompt, isStateFile } from '../language/state-names.ts';
import { createFileLeases } from '../storage/files/lease.ts';
import { CodeGuard } from '../wiring/code-guard.ts';
import { requireInput, warnOfManifest } from '../wiring/manifest-settings.ts';
import { PRODUCTION, type RunContext, type Runtime } from '../wiring/run-context.ts';
import { launchRun, type RunEnvironment, type RunHandle } from '../wiring/run-handle.ts';
import { callLimitsOf, mentionsJoin, withAbsoluteRoot } from '../wiring/run-workflows.ts';
import { requireSandbox } from '../wiring/sandbox-check.ts';
import { SettingsGuard, withSettings } from '../wiring/settings-guard.ts';
import { findWorktreesRoot } from '../wiring/worktrees-root.ts';
import { formatWorkflowFinding, InvalidWorkflow } from '../workflow/invalid-workflow.ts';
import { hasPrompts, type Workflow } from '../workflow/workflow.ts';
import { checkClaudeValues, refuseSkippingAsRoot, settleRun } from './config/run-settings.ts';
import { refuseForeignFolders } from './trust/foreign-folders.ts';
import { sealRun } from './trust/run-seal.ts';
import { currentPlatform } from './workflows/platform.ts';

export { openWorkflow, type Workflow } from '../workflow/workflow.ts';

/** How to start a run. */
export interface RunRequest extends RunEnvironment {
  readonly options?: Partial<Options>;
  /** The value of `{{result}}` in the first state. */
  readonly input?: string;
  readonly runId?: string;
  /** The name of the run in lists; the workflow's name if this is left out. */
  readonly name?: string;
  /** Makes the agents work in `cwd`, even if the workflow's manifest names another folder. */
  readonly ignoreWorkingDirectory?: boolean;
}

/** Starts a run of a workflow: a folder, a zip, a one-file workflow, or a state in one of them. */
export const runWorkflow = (path: string, request: RunRequest = {}): Promise<RunHandle> =>
  startRunWith(path, request, PRODUCTION);

/** Starts a run, for real or as a test. */
export async function startRunWith(path: string, request: RunRequest, runtime: Runtime): Promise<RunHandle> {
  const composed = await composeRun(path, request, runtime);
  const { run, events, options, env, workflow, layout } = composed;
  const backendFactory = await runtime.chooseBackend(options, env, workflow);
  await requireSandbox(workflow, options, run.startFolder ?? run.agents[0]?.cwd ?? layout.root, env);
  if (hasPrompts(workflow)) await backendFactory.checkAvailable();
  if (!runtime.isSandbox) await sealRun(layout, run, env);
  const lease = await createFileLeases(layout, runtime.storeOptions).create({ run, events });
  const context = { run, options, env, layout, lease, workflow, backendFactory, runtime, retry: false };
  return launchRun(context, events, [], request);
}

/** A run that can be started, with its first events; nothing of it is on disk yet. */
export interface ComposedRun extends Pick<RunContext, 'run' | 'options' | 'env' | 'layout' | 'workflow'> {
  readonly events: readonly Event[];
}

/** Makes the run that a request asks for, after all checks that need nobody else. */
export async function composeRun(path: string, request: RunRequest, runtime: Runtime): Promise<ComposedRun> {
  const cwd = resolve(request.cwd ?? process.cwd());
  const env = request.env ?? process.env;
  const wordWarnings = checkClaudeValues(request.options ?? {});
  const layout = findLayout(cwd);
  refuseForeignFolders([cwd, layout.root], env);
  const absolutePath = resolve(cwd, path);
  const requested = withAbsoluteRoot(request.options ?? {}, cwd);
  const limits = callLimitsOf(mergeOptions(DEFAULT_OPTIONS, requested), env);
  const workflow = await runtime.openWorkflow(absolutePath, currentPlatform(), limits).catch((error: unknown) => {
    throw relativizeWorkflowError(cwd, absolutePath, error);
  });
  const { manifest } = workflow;
  requireInput(manifest, request.input);
  const { options, workFolder } = settleRun(workflow, requested, cwd, request.ignoreWorkingDirectory);
  refuseSkippingAsRoot(workflow, options, env);
  const startedAt = runtime.clock.now();
  const name = request.name ?? manifest.name ?? workflow.name;
  const offset = -new Date(startedAt).getTimezoneOffset();
  const id =
    request.runId ?? newRunId(request.name ?? workflow.name, startedAt, offset, randomBytes(2).toString('hex'));
  const worktreeDir = options.worktreeDir === null ? null : resolve(cwd, options.worktreeDir);
  // Those of a test go with its folder.
  const worktreesRoot = runtime.isSandbox ? null : findWorktreesRoot(layout, env, worktreeDir);
  const guard = new CodeGuard(workflow, { id, startFolder: workFolder });
  const pinned = await guard.pin();
  // A test never starts Claude Code.
  const code = runtime.isSandbox
    ? pinned
    : withSettings(pinned, new SettingsGuard({ id, startFolder: workFolder, startedAt }, env).pin());
  const run = newRun({
    id,
    name,
    workflow: { name: workflow.name, path: workflow.path, platform: workflow.platform },
    startedAt,
    options,
    state: workflow.entry,
    cwd: workFolder,
    input: request.input ?? null,
    workFolders: {
      ...layout.workFolders(id, options.taskFolderPattern),
      ...(worktreesRoot !== null && { worktrees: join(worktreesRoot, id) }),
    },
    attended: request.attended ?? false,
    joins: mentionsJoin(workflow.source),
    code,
  });
  const toWarning = (message: string): Event => ({
    kind: 'warning',
    at: startedAt,
    agent: 'main',
    state: workflow.entry,
    message,
  });
  const warnings = [
    ...workflow.findings.map(formatWorkflowFinding),
    ...wordWarnings,
    ...warnOfManifest(manifest, env, request.input),
    ...(await warnOfVariableNames(workflow, options)),
    ...guard.warnOfUnpinned(code),
  ];
  const events = [...initialEvents(run), ...warnings.map(toWarning)];
  return { run, events, options, env, layout, workflow };
}

/** Warns of variables of the run that the scripts of its workflow do not get under their own names. */
async function warnOfVariableNames(workflow: Workflow, { variables }: Options): Promise<readonly string[]> {
  const { files, platform } = await workflow.scope();
  if (!files.some((file) => isStateFile(file) && !isPrompt(file))) return [];
  return safeNamesWarnings(Object.entries(variables), 'user', platform);
}

/** The problems of a workflow, with file names relative to this folder so that an editor can open them. */
export function relativizeWorkflowError(cwd: string, path: string, error: unknown): unknown {
  if (!(error instanceof InvalidWorkflow)) return error;
  const name = relative(cwd, path) || basename(path);
  // A state may be named without its extension, or in a zip or a one-file workflow.
  const root = isStateFile(path) || !existsSync(path) ? dirname(path) : path;
  const displayPath = (file: string): string => {
    if (isAbsolute(file)) return relative(cwd, file);
    if (file === basename(path)) return name;
    return relative(cwd, file === basename(root) ? root : join(root, file));
  };
  return new InvalidWorkflow(
    name,
    error.findings.map((finding) => ({ ...finding, file: displayPath(finding.file) })),
  );
}
