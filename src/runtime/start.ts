import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { safeNamesWarnings } from '../core/environment-names.ts';
import type { Event } from '../core/event.ts';
import { newRunId } from '../core/ids.ts';
import { DEFAULT_OPTIONS, mergeOptions, type Options, overlayOptions } from '../core/options.ts';
import { newRun } from '../core/run.ts';
import { isPrompt, isStateFile } from '../core/state-names.ts';
import { initialEvents } from '../core/step.ts';
import { resolveWorkspace } from '../core/workspace.ts';
import { findLayout } from '../store/layout.ts';
import { createRun } from '../store/store.ts';
import { formatWorkflowFinding, InvalidWorkflow } from '../workflow/invalid-workflow.ts';
import { hasPrompts, type Workflow } from '../workflow/workflow.ts';
import { checkClaudeWords, refuseSkippingAsRoot } from './claude-words.ts';
import { refuseForeignFolders } from './foreign-folders.ts';
import {
  manifestOptions,
  requireInput,
  requirePeople,
  resolveWorkingDirectory,
  warnOfManifest,
} from './manifest-settings.ts';
import { mentionsJoin } from './mentions-join.ts';
import { currentPlatform } from './platform.ts';
import { PRODUCTION, type RunContext, type Runtime } from './run-context.ts';
import { launchRun, type RunEnvironment, type RunHandle } from './run-handle.ts';
import { callLimitsOf, withAbsoluteRoot } from './run-workflows.ts';

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
  if (hasPrompts(workflow)) await backendFactory.checkAvailable();
  const store = await createRun(layout, run, events, runtime.storeOptions);
  const context = { run, options, env, layout, store, workflow, backendFactory, runtime, retry: false, damage: [] };
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
  const wordWarnings = checkClaudeWords(request.options ?? {});
  const layout = findLayout(cwd);
  refuseForeignFolders([cwd, layout.root], env);
  const absolutePath = resolve(cwd, path);
  const requested = withAbsoluteRoot(request.options ?? {}, cwd);
  const limits = callLimitsOf(mergeOptions(DEFAULT_OPTIONS, requested));
  const workflow = await runtime.openWorkflow(absolutePath, currentPlatform(), limits).catch((error: unknown) => {
    throw relativizeWorkflowError(cwd, absolutePath, error);
  });
  const { manifest } = workflow;
  requireInput(manifest, request.input);
  const options = withAbsoluteWorkspace(
    mergeOptions(DEFAULT_OPTIONS, overlayOptions(manifestOptions(manifest), requested)),
    cwd,
  );
  const workFolder = request.ignoreWorkingDirectory ? cwd : resolveWorkingDirectory(manifest, options, cwd);
  requirePeople(manifest, options);
  refuseSkippingAsRoot(workflow, options, env);
  const startedAt = runtime.clock.now();
  const name = request.name ?? manifest.name ?? workflow.name;
  const offset = -new Date(startedAt).getTimezoneOffset();
  const id =
    request.runId ?? newRunId(request.name ?? workflow.name, startedAt, offset, randomBytes(2).toString('hex'));
  const run = newRun({
    id,
    name,
    workflow: { name: workflow.name, path: workflow.path, platform: workflow.platform },
    startedAt,
    options,
    state: workflow.entry,
    cwd: workFolder,
    input: request.input ?? null,
    workFolders: layout.workFolders(id, options.taskFolderPattern),
    attended: request.attended ?? false,
    joins: mentionsJoin(workflow.source),
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
  ];
  const events = [...initialEvents(run), ...warnings.map(toWarning)];
  return { run, events, options, env, layout, workflow };
}

const withAbsoluteWorkspace = (options: Options, cwd: string): Options =>
  options.workspace === null
    ? options
    : { ...options, workspace: resolveWorkspace(options.workspace, (path) => resolve(cwd, path)) };

/** Warns of variables of the run that the scripts of its workflow do not get under their own names. */
async function warnOfVariableNames(workflow: Workflow, { variables }: Options): Promise<readonly string[]> {
  const { files, platform } = await workflow.scope();
  if (!files.some((file) => isStateFile(file) && !isPrompt(file))) return [];
  return safeNamesWarnings(Object.entries(variables), 'user', platform);
}

/** What is wrong with a workflow, its files named as one would write them in this folder: an editor can open them. */
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
