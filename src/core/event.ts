import type { SessionUse, TurnPrompt } from './agent.ts';
import type { FailureKind } from './failure.ts';
import type { Options } from './options.ts';
import type { AnswerProblemKind } from './problem.ts';
import type { Run, RunStatus, StopReason } from './run.ts';
import type { TagName } from './transitions/index.ts';

interface BaseEvent {
  readonly at: number;
}

interface AgentEvent extends BaseEvent {
  readonly agent: string;
  readonly state: string;
}

export interface RunStarted extends BaseEvent {
  readonly kind: 'run_started';
  readonly run: string;
  readonly name: string;
  readonly workflow: Run['workflow'];
  readonly options: Options;
}

export interface RunResumed extends BaseEvent {
  readonly kind: 'run_resumed';
  readonly options: Options;
}

/** No new turns from here on; those under way come to their end. */
export interface RunStopping extends BaseEvent {
  readonly kind: 'run_stopping';
  readonly stop: StopReason;
}

export interface RunEnded extends BaseEvent {
  readonly kind: 'run_ended';
  readonly status: Exclude<RunStatus, 'running'>;
  readonly spentMicros: number;
  readonly estimatedMicros: number;
}

/** An agent was born: `main` of nobody, a worker of its parent. */
export interface AgentStarted extends AgentEvent {
  readonly kind: 'agent_started';
  readonly parent: string | null;
  readonly cwd: string;
  readonly input: string | null;
  readonly variables: Readonly<Record<string, string>>;
}

export interface TurnStarted extends AgentEvent {
  readonly kind: 'turn_started';
  readonly turn: number;
  readonly prompt: TurnPrompt['kind'];
  readonly session: SessionUse | null;
}

/** A turn ended, well or not; its cost is in the ledger. */
export interface TurnEnded extends AgentEvent {
  readonly kind: 'turn_ended';
  readonly turn: number;
  readonly session: string | null;
  readonly costMicros: number;
  readonly estimated: boolean;
  readonly spentMicros: number;
  readonly durationMs: number;
  readonly failure: FailureKind | null;
  readonly denials: readonly string[];
}

/** A tag that was followed. Its names are exact: states are files of the workflow, `cd` is the folder's full path. */
export interface FollowedTag {
  readonly tag: TagName;
  /** The state that it names; null for a `<result>`, whose text is the transition's `input`. */
  readonly target: string | null;
  /** The attributes that count. A fork that left `next` to its siblings has theirs. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The same as the answer, or the policy of an implicit transition, put it, ignored attributes included. */
  readonly written: { readonly target: string | null; readonly attributes: Readonly<Record<string, string>> };
}

/** An agent moved on. `to` is null when it ended. The cost is that of all turns in the state it left. */
export interface Transitioned extends AgentEvent {
  readonly kind: 'transition';
  /** The first of `tags`. */
  readonly tag: TagName;
  /** The tags of the answer: one, or several forks and perhaps their goto. Empty in journals that are older than this list. */
  readonly tags: readonly FollowedTag[];
  readonly to: string | null;
  readonly implicit: boolean;
  readonly session: string | null;
  readonly depth: number;
  readonly costMicros: number;
  readonly input: string | null;
}

export interface Reminded extends AgentEvent {
  readonly kind: 'reminded';
  readonly problem: AnswerProblemKind;
  readonly message: string;
  readonly count: number;
  readonly limit: number;
}

/** A failed turn will be tried again: after a back-off, or when a usage limit ends. */
export interface Sleeping extends AgentEvent {
  readonly kind: 'sleeping';
  readonly why: 'retry' | 'usage_limit';
  readonly untilMs: number;
  readonly failure: FailureKind;
  readonly message: string;
  readonly count: number;
}

export interface Woken extends AgentEvent {
  readonly kind: 'woken';
}

/** A conversation could not be resumed; the next try makes do with less of it. */
export interface SessionLost extends AgentEvent {
  readonly kind: 'session_lost';
  readonly session: string;
  readonly next: 'fork' | 'new';
  readonly message: string;
}

/** The budget ran out: an answer is kept but not followed. */
export interface AnswerWithheld extends AgentEvent {
  readonly kind: 'answer_withheld';
}

/** A state may not be entered again by this agent. */
export interface VisitLimit extends AgentEvent {
  readonly kind: 'visit_limit';
  readonly maxVisits: number;
}

export interface AgentPaused extends AgentEvent {
  readonly kind: 'agent_paused';
  readonly why: FailureKind | 'unreadable';
  readonly message: string;
}

export interface AgentFailed extends AgentEvent {
  readonly kind: 'agent_failed';
  readonly message: string;
}

export interface AgentEnded extends AgentEvent {
  readonly kind: 'agent_ended';
  readonly result: string;
}

/** A paused, limited or failed agent is taken up again where it stands. */
export interface AgentResumed extends AgentEvent {
  readonly kind: 'agent_resumed';
}

export interface Warned extends AgentEvent {
  readonly kind: 'warning';
  readonly message: string;
}

/** What happened in a run. Whoever has all of them, in order, knows the whole story. */
export type Event =
  | RunStarted
  | RunResumed
  | RunStopping
  | RunEnded
  | AgentStarted
  | TurnStarted
  | TurnEnded
  | Transitioned
  | Reminded
  | Sleeping
  | Woken
  | SessionLost
  | AnswerWithheld
  | VisitLimit
  | AgentPaused
  | AgentFailed
  | AgentEnded
  | AgentResumed
  | Warned;

/** What a run has become, and what there is to tell about it. */
export interface Step {
  readonly run: Run;
  readonly events: readonly Event[];
}

/** A step together with the run it was taken from. */
export interface AppliedStep {
  readonly before: Run;
  readonly step: Step;
}
