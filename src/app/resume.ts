import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LookedUp } from '../core/answers/looked-up.ts';
import { isReplay } from '../core/options/option-types.ts';
import { mergeOptions, type Options } from '../core/options/options.ts';
import { turnFileOf } from '../core/run/agent.ts';
import type { Event } from '../core/run/event.ts';
import { waitingAsksOf } from '../core/run/permission.ts';
import type { Run } from '../core/run/run.ts';
import { workFoldersOf } from '../core/run/work-folders.ts';
import { canResume, keptAnswers } from '../core/signals/resumed.ts';
import type { Resumed, Signal } from '../core/signals/signal.ts';
import { askTurnOf } from '../core/turns/ask-turn.ts';
import { findLayout } from '../disk/layout.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { AskAnswer } from '../language/ask.ts';
import type { State } from '../language/state.ts';
import { isPrompt } from '../language/state-names.ts';
import { createFileLeases } from '../storage/files/lease.ts';
import { resolveRunId } from '../storage/files/runs.ts';
import { waitForRelease } from '../storage/files/wait-for-release.ts';
import { matchPatterns } from '../turns/match-patterns.ts';
import { findEnd } from '../turns/open-questions.ts';
import { createFolderJudge } from '../turns/permitted-folders.ts';
import { lookUpNames } from '../turns/signals.ts';
import { CodeGuard, type ToldChange } from '../wiring/code-guard.ts';
import { findFolderLimits } from '../wiring/folder-limits.ts';
import { mentionsJoin } from '../wiring/mentions-join.ts';
import { createAnswerSource } from '../wiring/request-handler.ts';
import { PRODUCTION, type RunContext, type Runtime } from '../wiring/run-context.ts';
import { createEndedHandle, launchRun, type RunEnvironment, type RunHandle } from '../wiring/run-handle.ts';
import { callLimitsOf, nameWorkflows, withAbsoluteRoot } from '../wiring/run-workflows.ts';
import { hasSettings, SettingsGuard, withSettings } from '../wiring/settings-guard.ts';
import { readSharedQuota } from '../wiring/shared-quota.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { WorkflowMember } from '../workflow/workflow-set.ts';
import { checkClaudeWords, refuseSkippingAsRoot } from './config/claude-options.ts';
import { refuseForeignFolders } from './trust/foreign-folders.ts';
import { findStoredRisks, sealRun, storedRisksError } from './trust/run-seal.ts';

/** How to resume a run. */
export interface ResumeRequest extends RunEnvironment {
  /** Options that change from now on. */
  readonly options?: Partial<Options>;
  /** Tries failed agents again, and scripts that were killed midway. */
  readonly retry?: boolean;
  /** True if a person resumes it, who accepts code that has changed as far as the run has told of that. */
  readonly acceptChangedCode?: boolean;
  /** Takes the run from an owner on another machine that cannot be asked. */
  readonly takeOver?: boolean;
  /** A person has accepted the programs and rights that the run has stored, although this user has not started it. */
  readonly acceptsStored?: boolean;
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
  const lastStepMs = statSync(layout.journalFile(runId), { throwIfNoEntry: false })?.mtimeMs ?? null;
  const leases = createFileLeases(layout, runtime.storeOptions);
  const lease = await leases.acquire(runId, { takeOver: request.takeOver ?? false, acceptLoss: retry });
  if (!runtime.isSandbox) {
    const { run } = lease;
    try {
      const cwd = resolve(request.cwd ?? process.cwd());
      const risks = request.acceptsStored === true ? [] : findStoredRisks(layout, run, changes, { cwd, env });
      if (risks.length > 0 && canResume(run, retry)) throw storedRisksError(run.id, risks);
      await sealRun(layout, { ...run, options: mergeOptions(run.options, changes) }, env);
    } catch (error) {
      await lease.release();
      throw error;
    }
  }
  const acceptance = request.acceptChangedCode === true ? { lastStepMs } : null;
  return continueRun({ lease, layout, env, changes, retry, acceptance }, request, runtime);
}

/** A run that was opened to continue with it. */
export interface OpenedRunContext extends Pick<RunContext, 'lease' | 'layout' | 'env' | 'retry'> {
  /** Options that change from now on. */
  readonly changes: Partial<Options>;
  /** Set if a person resumes it, who accepts changed code: when its last step was written, if that is known. */
  readonly acceptance?: { readonly lastStepMs: number | null } | null;
  /** Something that whoever watches the run should know. */
  readonly notice?: string;
  /** The first events of a run that nobody has driven yet: it begins, and is not resumed. */
  readonly firstEvents?: readonly Event[];
}

/** Continues with a run that this process has opened. If that fails, the run is closed again. */
export async function continueRun(
  opened: OpenedRunContext,
  request: RunEnvironment,
  runtime: Runtime,
): Promise<RunHandle> {
  const { lease, layout, env, changes, retry, acceptance = null, notice, firstEvents } = opened;
  const { run } = lease;
  try {
    if (!canResume(run, retry)) {
      await lease.release();
      return createEndedHandle(run, lease.damage);
    }
    if (run.workspace === null && changes.workspace != null) throw noWorkspaceError(run.id);
    const options = mergeOptions(run.options, changes);
    const { path, platform } = run.workflow;
    const workflow = await runtime.openWorkflow(path, platform, callLimitsOf(options, env, run)).catch((error) => {
      throw isMissingWorkflow(error) ? missingWorkflowError(run, error) : error;
    });
    refuseSkippingAsRoot(workflow, options, env);
    const workFolders = layout.workFolders(run.id, options.taskFolderPattern);
    const guard = new CodeGuard(workflow, run);
    const settings = new SettingsGuard(run, env, runtime.home !== null);
    const pinned = await pinOnResume(guard, settings, run, acceptance);
    const code = pinned.code ?? run.code ?? undefined;
    const resumed: Signal = {
      kind: 'resumed',
      at: runtime.clock.now(),
      attended: request.attended ?? false,
      ...(await collectQuestionEnds({ ...run, workFolders: run.workFolders ?? workFolders }, opened, runtime)),
      options: changes,
      retry,
      workFolders,
      joins: mentionsJoin(workflow.source),
      ...pinned,
      ...(run.quota !== null && !isReplay(options) && { quota: await readSharedQuota(env, runtime.clock.now()) }),
      lookedUp: await lookUpKeptAnswers(run, workflow, {
        ...findFolderLimits(run, layout, workflow, runtime.isSandbox),
        options,
        env,
        readState: (state) => guard.read({ state, kind: 'claude', ...(code && { code }) }),
        permit: (member, isScript) => guard.permit(member, code, isScript && acceptance !== null),
      }),
    };
    const backendFactory = await runtime.chooseBackend(options, env, workflow);
    const context = { run, options, env, layout, lease, workflow, backendFactory, runtime, retry };
    const signals = [...(firstEvents === undefined ? [resumed] : []), ...noticeOf(run, notice, resumed.at)];
    return launchRun(context, firstEvents ?? [], signals, request);
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/** The code that a run may use once it is resumed: an older run gets it now, and a person may accept what has changed. */
async function pinOnResume(
  guard: CodeGuard,
  settings: SettingsGuard,
  { code, status, agents }: Run,
  acceptance: OpenedRunContext['acceptance'],
): Promise<Pick<Resumed, 'code' | 'accepted'>> {
  const folders = [...new Set(agents.map(({ cwd }) => cwd))];
  if (code === null) return { code: withSettings(await guard.pin(), settings.pin(folders)) };
  const known = hasSettings(code) ? code : withSettings(code, settings.pin(folders));
  if (acceptance == null) return known === code ? {} : { code: known };
  const told = agents.flatMap(({ phase, state }): readonly ToldChange[] => {
    if (phase.kind !== 'paused') return [];
    // Its pause may be about the schema that its answer must fit.
    return phase.answer === undefined ? (phase.changed ?? []) : [{ state }];
  });
  // Turns of a run that was killed may have changed something after its last step.
  const endedAtMs = status === 'running' ? null : acceptance.lastStepMs;
  const untilMs = endedAtMs ?? Number.POSITIVE_INFINITY;
  const programs = await guard.accept(known, told, untilMs);
  const toldFiles = told.flatMap((each) => ('state' in each ? [] : [each]));
  const both = settings.accept(programs.code, toldFiles, untilMs, folders);
  const accepted = [...programs.accepted, ...both.accepted];
  return accepted.length === 0 && known === code ? {} : { code: both.code, accepted };
}

function noticeOf({ agents: [main] }: Run, message: string | undefined, at: number): readonly Signal[] {
  if (message === undefined || main === undefined) return [];
  return [{ kind: 'noticed', at, about: { agent: main.id, state: main.state }, message }];
}

/** Collects the answers that were given meanwhile, and ends the questions whose time is over. */
async function collectQuestionEnds(
  run: Run,
  { layout, lease }: Pick<OpenedRunContext, 'layout' | 'lease'>,
  { clock, storeOptions, openRequests }: Runtime,
): Promise<Pick<Resumed, 'answers' | 'timedOut'>> {
  const source = createAnswerSource(openRequests(layout, storeOptions.durable ?? true), lease, run.id, clock);
  const answers: AskAnswer[] = [];
  const timedOut: string[] = [];
  for (const waiting of run.agents.flatMap(waitingAsksOf)) {
    const { untilMs } = waiting;
    const isOver = untilMs !== null && untilMs <= clock.now();
    const end = await findEnd(source, askTurnOf(run, waiting), clock, isOver);
    if (end?.kind === 'ask_timed_out') timedOut.push(end.ask);
    if (end?.kind !== 'ask_answered') continue;
    const { ask, text, by, answeredAt, files } = end;
    answers.push({ ask, text, by, answeredAt, files });
  }
  return { answers, timedOut };
}

/** Looks up, for each answer that was kept, what it names: all of it may have changed since. */
async function lookUpKeptAnswers(
  run: Run,
  workflow: Workflow,
  limits: Parameters<typeof createFolderJudge>[0] & {
    /** Says whether the kept answer of a script, or of a prompt, may name a workflow. */
    readonly permit: (member: WorkflowMember, isScript: boolean) => ReturnType<CodeGuard['permit']>;
    /** Reads a state whose schema a kept answer must fit. */
    readonly readState: (state: string) => Promise<State>;
  },
): Promise<Resumed['lookedUp']> {
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
        nameWorkflows: (specs) =>
          nameWorkflows(workflow, limits.options, state, specs, (member) => limits.permit(member, !isPrompt(file))),
        readState: () => limits.readState(state),
      });
    const lookedUp: LookedUp = {
      scope: await workflow.scope(state).catch(() => ({ files: [], platform: workflow.platform })),
      ...(await lookUp(turnFileOf(agent), text)),
      ...(evaluation === null
        ? { matches: await matchPatterns(evaluators, text) }
        : { evaluated: await lookUp(state, evaluation.text) }),
    };
    return [id, lookedUp] as const;
  });
  return Object.fromEntries(await Promise.all(found));
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
