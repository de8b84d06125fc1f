import { resolve } from 'node:path';
import { turnFileOf } from '../core/agent.ts';
import type { AskAnswer } from '../core/ask.ts';
import { askTurnOf } from '../core/ask-turn.ts';
import type { Event } from '../core/event.ts';
import { isReplay } from '../core/option-types.ts';
import { mergeOptions, type Options } from '../core/options.ts';
import type { Run } from '../core/run.ts';
import type { Resumed, Signal } from '../core/signal.ts';
import { canResume, keptAnswers } from '../core/signals/resumed.ts';
import { isPrompt } from '../core/state-names.ts';
import { workFoldersOf } from '../core/work-folders.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { findLayout, type StoreLayout } from '../store/layout.ts';
import { resolveRunId } from '../store/runs.ts';
import { openStore } from '../store/store.ts';
import { waitForRelease } from '../store/wait-for-release.ts';
import { findEnd } from '../turns/ask-board.ts';
import { matchPatterns } from '../turns/match-patterns.ts';
import { createFolderJudge } from '../turns/permitted-folders.ts';
import { lookUpNames } from '../turns/signals.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { checkClaudeWords, refuseSkippingAsRoot } from './claude-words.ts';
import { findFolderLimits } from './folder-limits.ts';
import { refuseForeignFolders } from './foreign-folders.ts';
import { mentionsJoin } from './mentions-join.ts';
import { PRODUCTION, type RunContext, type Runtime } from './run-context.ts';
import { createEndedHandle, launchRun, type RunEnvironment, type RunHandle } from './run-handle.ts';
import { callLimitsOf, nameWorkflows, withAbsoluteRoot } from './run-workflows.ts';
import { readSharedQuota } from './shared-quota.ts';

/** How to resume a run. */
export interface ResumeRequest extends RunEnvironment {
  /** Options that change from now on. */
  readonly options?: Partial<Options>;
  /** Tries failed agents again, and scripts that were killed midway. */
  readonly retry?: boolean;
  /** Takes the run from an owner on another machine that cannot be asked. */
  readonly takeOver?: boolean;
}

/** Resumes a run that was paused, stopped, interrupted or killed. One that has ended is given back as it is. */
export const resumeRun = (id: string, request: ResumeRequest = {}): Promise<RunHandle> =>
  resumeRunWith(id, request, PRODUCTION);

/** Resumes a run, for real or as a test. */
export async function resumeRunWith(id: string, request: ResumeRequest, runtime: Runtime): Promise<RunHandle> {
  const layout = findLayout(request.cwd);
  const { retry = false, env = process.env } = request;
  const changes = withAbsoluteRoot(request.options ?? {}, resolve(request.cwd ?? process.cwd()));
  checkClaudeWords(changes);
  refuseForeignFolders([layout.root], env);
  const runId = await resolveRunId(layout, id);
  await waitForRelease(layout, runId);
  const opened = await openStore(layout, runId, {
    ...runtime.storeOptions,
    takeOver: request.takeOver ?? false,
    acceptLoss: retry,
  });
  return continueRun({ ...opened, layout, env, changes, retry }, request, runtime);
}

/** A run that was opened to go on with it. */
export interface OpenedRunContext extends Pick<RunContext, 'run' | 'store' | 'damage' | 'layout' | 'env' | 'retry'> {
  /** Options that change from now on. */
  readonly changes: Partial<Options>;
  /** Something that whoever watches the run should know. */
  readonly notice?: string;
  /** The first events of a run that nobody has driven yet: it begins, and is not resumed. */
  readonly firstEvents?: readonly Event[];
}

/** Goes on with a run that this process has opened. If that fails, the run is closed again. */
export async function continueRun(
  opened: OpenedRunContext,
  request: RunEnvironment,
  runtime: Runtime,
): Promise<RunHandle> {
  const { run, store, damage, layout, env, changes, retry, notice, firstEvents } = opened;
  try {
    if (!canResume(run, retry)) {
      await store.close();
      return createEndedHandle(run, damage);
    }
    if (run.workspace === null && changes.workspace != null) throw noWorkspaceError(run.id);
    const options = mergeOptions(run.options, changes);
    const { path, platform } = run.workflow;
    const workflow = await runtime.openWorkflow(path, platform, callLimitsOf(options, run)).catch((error) => {
      throw isMissingWorkflow(error) ? missingWorkflowError(run, error) : error;
    });
    refuseSkippingAsRoot(workflow, options, env);
    const workFolders = layout.workFolders(run.id, options.taskFolderPattern);
    const resumed: Signal = {
      kind: 'resumed',
      at: runtime.clock.now(),
      attended: request.attended ?? false,
      ...(await collectQuestionEnds({ ...run, workFolders: run.workFolders ?? workFolders }, layout, runtime)),
      options: changes,
      retry,
      scope: await workflow.scope(),
      workFolders,
      joins: mentionsJoin(workflow.source),
      ...(run.quota !== null && !isReplay(options) && { quota: await readSharedQuota(env, runtime.clock.now()) }),
      ...(await lookUpKeptNames(run, workflow, {
        ...findFolderLimits(run, layout, workflow, runtime.isSandbox),
        options,
        env,
      })),
    };
    const backendFactory = await runtime.chooseBackend(options, env, workflow);
    const context = { run, options, env, layout, store, workflow, backendFactory, runtime, retry, damage };
    const signals = [...(firstEvents === undefined ? [resumed] : []), ...noticeOf(run, notice, resumed.at)];
    return launchRun(context, firstEvents ?? [], signals, request);
  } catch (error) {
    await store.close();
    throw error;
  }
}

function noticeOf({ agents: [main] }: Run, message: string | undefined, at: number): readonly Signal[] {
  if (message === undefined || main === undefined) return [];
  return [{ kind: 'noticed', at, about: { agent: main.id, state: main.state }, message }];
}

/** Collects the answers that were given meanwhile, and ends the questions whose time is over. */
async function collectQuestionEnds(
  run: Run,
  layout: StoreLayout,
  { clock, storeOptions, createAnswers }: Runtime,
): Promise<Pick<Resumed, 'answers' | 'timedOut'>> {
  const { durable = true } = storeOptions;
  // One that cannot be read is told of as soon as the run goes on.
  const source = createAnswers(layout, run.id, { clock, durable, warn: () => {} });
  const answers: AskAnswer[] = [];
  const timedOut: string[] = [];
  for (const agent of run.agents) {
    if (agent.phase.kind !== 'asking') continue;
    const end = await findEnd(source, askTurnOf(run, agent, agent.phase), clock);
    if (end?.kind === 'ask_timed_out') timedOut.push(end.ask);
    if (end?.kind !== 'ask_answered') continue;
    const { ask, text, by, answeredAt, files } = end;
    answers.push({ ask, text, by, answeredAt, files });
  }
  return { answers, timedOut };
}

/** Looks for the folders, files and workflows named by answers that were kept, and checks their results: all may have changed since. */
async function lookUpKeptNames(
  run: Run,
  workflow: Workflow,
  limits: Parameters<typeof createFolderJudge>[0],
): Promise<
  Required<Pick<Resumed, 'folders' | 'files' | 'workflows' | 'scopes' | 'evaluated' | 'matches' | 'results'>>
> {
  const found = keptAnswers(run).map(async ({ agent, text }) => {
    const { id, state, rules, cwd, evaluation } = agent;
    const { policy = [], evaluators = [] } = rules ?? {};
    const judge = createFolderJudge(limits, { policy, cwd, ...workFoldersOf(run, agent) });
    const lookUp = (file: string, answer: string): ReturnType<typeof lookUpNames> =>
      lookUpNames({
        text: answer,
        policy,
        evaluators,
        cwd,
        judge: isPrompt(file) ? judge : undefined,
        nameWorkflows: (specs) => nameWorkflows(workflow, limits.options, state, specs),
        readState: () => workflow.state(state),
      });
    return {
      id,
      names: await lookUp(turnFileOf(agent), text),
      evaluated: evaluation === null ? null : await lookUp(state, evaluation.text),
      matches: evaluation === null ? matchPatterns(evaluators, text) : [],
      scope: await workflow.scope(state).catch(() => ({ files: [], platform: workflow.platform })),
    };
  });
  const kept = await Promise.all(found);
  return {
    folders: Object.fromEntries(kept.map(({ id, names }) => [id, names.folders])),
    files: Object.fromEntries(kept.map(({ id, names }) => [id, names.files])),
    evaluated: Object.fromEntries(kept.flatMap(({ id, evaluated }) => (evaluated === null ? [] : [[id, evaluated]]))),
    matches: Object.fromEntries(kept.map(({ id, matches }) => [id, matches])),
    workflows: Object.fromEntries(kept.map(({ id, names }) => [id, names.workflows])),
    scopes: Object.fromEntries(kept.map(({ id, scope }) => [id, scope])),
    results: Object.fromEntries(kept.map(({ id, names }) => [id, names.results])),
  };
}

const noWorkspaceError = (id: string): RaymondError =>
  new RaymondError(`The run ${id} was started without a workspace, and cannot get one now.`, {
    exitCode: EXIT.usage,
    hint: 'Resume it without --workspace, or start a new run.',
  });

const isMissingWorkflow = (error: unknown): boolean => error instanceof RaymondError && error.exitCode === EXIT.usage;

const missingWorkflowError = (run: Run, cause: unknown): RaymondError =>
  new RaymondError(`The workflow of run ${run.id} cannot be opened at ${run.workflow.path}.`, {
    exitCode: EXIT.usage,
    hint: 'Put it back there, then resume the run.',
    cause,
  });
