import type { ResumeRequest } from '../../src/app/resume.ts';
import type { RunRequest } from '../../src/app/start.ts';
import type { StopRequest } from '../../src/app/stop.ts';
import type { Phase } from '../../src/core/run/agent.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { RunStatus } from '../../src/core/run/run.ts';
import type { Signal } from '../../src/core/signals/signal.ts';
import type { Turn } from '../../src/core/turns/due.ts';
import type { RunEnvironment, RunHandle } from '../../src/wiring/run-handle.ts';

/*
 * The names in our types, for tables of the documentation to be compared with: the compiler sees to it that none is
 * missing and none is too many.
 */

type Named<Name extends string> = Readonly<Record<Name, true>>;

/** The members of a union by their kind, each with what it has besides these keys. */
type Kinds<Union extends { kind: string }, Common extends string> = {
  readonly [Kind in Union['kind']]: Named<Exclude<keyof Extract<Union, { kind: Kind }> & string, 'kind' | Common>>;
};

export const EVENTS: Kinds<Event, 'at' | 'agent' | 'state'> = {
  run_started: { run: true, name: true, workflow: true, options: true, rerunOf: true },
  run_resumed: { options: true },
  run_stopping: { stop: true, refused: true },
  run_ended: { status: true, spentMicros: true, estimatedMicros: true, cannedMicros: true, tokens: true },
  run_waiting: { waitsFor: true },
  agent_started: { parent: true, cwd: true, input: true, variables: true },
  turn_started: { evaluator: true, turn: true, prompt: true, session: true, snapshot: true },
  turn_ended: {
    evaluator: true,
    turn: true,
    session: true,
    costMicros: true,
    estimated: true,
    canned: true,
    models: true,
    spentMicros: true,
    durationMs: true,
    failure: true,
    denials: true,
    message: true,
  },
  printed: { turn: true, text: true },
  transition: {
    tag: true,
    tags: true,
    to: true,
    implicit: true,
    guard: true,
    session: true,
    depth: true,
    costMicros: true,
    input: true,
    tokens: true,
    requested: true,
    choice: true,
    sessionUse: true,
    cwd: true,
  },
  evaluated: { evaluator: true, verdict: true, transition: true, why: true },
  reminded: { evaluator: true, problem: true, message: true, count: true, limit: true },
  sleeping: { why: true, untilMs: true, failure: true, message: true, count: true },
  woken: {},
  session_lost: { session: true, next: true, message: true },
  asked: { ask: true, question: true, untilMs: true, taskFolder: true },
  ask_answered: { ask: true, text: true, by: true, answeredAt: true, files: true },
  ask_timed_out: { ask: true },
  said: { said: true, text: true, by: true, saidAt: true, turn: true, refused: true },
  turn_interrupted: { interrupt: true, text: true, by: true, saidAt: true, turn: true, refused: true },
  said_delivered: { said: true, turn: true, via: true },
  answer_withheld: { requested: true, implicit: true, session: true, sessionUse: true, cwd: true, costMicros: true },
  visit_limit: { maxVisits: true },
  agent_paused: { why: true, message: true },
  agent_failed: { message: true },
  agent_ended: { result: true },
  agent_resumed: {},
  worktree_opening: {},
  worktree_opened: { path: true, branch: true, base: true, repository: true, remote: true, cwd: true, home: true },
  worktree_leaving: {},
  worktree_discarded: { path: true, branch: true },
  rehomed: { from: true, to: true },
  cost_corrected: {
    evaluator: true,
    turn: true,
    formerMicros: true,
    formerCanned: true,
    costMicros: true,
    estimated: true,
    canned: true,
    models: true,
    spentMicros: true,
  },
  worktree_left: { path: true, branch: true, kept: true, commits: true, dirty: true, remote: true, pushed: true },
  workspace_opening: { git: true, ref: true },
  workspace_opened: { path: true, branch: true, base: true, repository: true, remote: true, from: true },
  workspace_leaving: { path: true, branch: true },
  workspace_left: { path: true, branch: true, remote: true, kept: true, commits: true, dirty: true, pushed: true },
  joining: { workers: true, done: true, wanted: true, group: true, untilMs: true },
  joined: { to: true, timedOut: true, workers: true, left: true },
  quota: { quota: true, parallel: true },
  cancelling: { by: true },
  agent_cancelled: { by: true },
  warning: { message: true },
};

export const PHASES: Kinds<Phase, never> = {
  ready: { prompt: true, since: true },
  running: { turn: true },
  sleeping: { why: true, untilMs: true, waitMs: true, prompt: true },
  withheld: { text: true, denials: true, folders: true, fingerprint: true },
  worktree: { outcome: true },
  limited: { maxVisits: true },
  paused: { why: true, message: true, prompt: true, answer: true, changed: true },
  asking: {
    ask: true,
    question: true,
    askedAt: true,
    untilMs: true,
    tag: true,
    implicit: true,
    origin: true,
    interrupted: true,
  },
  joining: {
    join: true,
    workers: true,
    done: true,
    wanted: true,
    group: true,
    cancel: true,
    ending: true,
    untilMs: true,
    timeoutMs: true,
    timeoutNext: true,
    timedOut: true,
  },
  cancelling: { turn: true, by: true },
  cancelled: { by: true },
  failed: { message: true },
  ended: { result: true },
};

export const STATUSES: Named<RunStatus> = {
  running: true,
  completed: true,
  failed: true,
  waiting: true,
  paused: true,
  budget_exceeded: true,
  iteration_limit: true,
  interrupted: true,
};

export const SIGNALS: Named<Signal['kind']> = {
  began: true,
  unreadable: true,
  unrecorded: true,
  answered: true,
  failed: true,
  woke: true,
  worktree_made: true,
  worktree_refused: true,
  worktree_closed: true,
  home_lost: true,
  cost_found: true,
  workspace_made: true,
  workspace_refused: true,
  workspace_left: true,
  ask_answered: true,
  ask_timed_out: true,
  said: true,
  heard: true,
  interrupt: true,
  noticed: true,
  quota_reported: true,
  stopped: true,
  worktrees_discarded: true,
  resumed: true,
};

export const TURNS: Named<Turn['kind']> = { claude: true, script: true, sleep: true, worktree: true, workspace: true };

const PLACE: Named<keyof RunEnvironment> = {
  cwd: true,
  env: true,
  observe: true,
  watch: true,
  watchRetries: true,
  attended: true,
  watchPrints: true,
  watchQueued: true,
};
export const RUN_REQUEST: Named<keyof RunRequest> = {
  input: true,
  options: true,
  runId: true,
  name: true,
  ignoreWorkingDirectory: true,
  ...PLACE,
};
export const RESUME_REQUEST: Named<keyof ResumeRequest> = {
  options: true,
  retry: true,
  acceptChangedCode: true,
  takeOver: true,
  acceptsStored: true,
  ...PLACE,
};
export const STOP_REQUEST: Named<keyof StopRequest> = { now: true, signal: true, observe: true, cwd: true, env: true };
export const RUNNING: Named<keyof RunHandle> = {
  id: true,
  initial: true,
  damage: true,
  lateWarnings: true,
  events: true,
  finished: true,
  stop: true,
  kill: true,
  answer: true,
  say: true,
  interrupt: true,
};
