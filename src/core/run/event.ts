import type { AskAnswer, Question } from '../../language/ask.ts';
import type { FailureKind, PauseReason } from '../../language/failure.ts';
import type { CaughtOutcome } from '../../language/guards.ts';
import type { AnswerProblemKind } from '../../language/problem.ts';
import type { FollowedTag, TransitionChoice } from '../../language/tags/followed-tag.ts';
import type { TagName } from '../../language/transitions/index.ts';
import type { Options } from '../options/options.ts';
import type { RunWaiting } from './activity.ts';
import type { SessionUse, TurnPrompt } from './agent.ts';
import type { Quota } from './quota.ts';
import type { RerunOrigin } from './rerun-origin.ts';
import type { Run, RunStatus, StopReason } from './run.ts';
import type { SaidDelivered, SaidToAgent, TurnInterrupted } from './said.ts';
import type { FolderSnapshot } from './snapshot.ts';
import type { ModelShare, Tokens } from './tokens.ts';
import type {
  AgentCancelled,
  Cancelling,
  CostCorrected,
  Joined,
  Joining,
  Rehomed,
  WorktreeEvent,
} from './worker-event.ts';
import type { WorkspaceContent, WorkspacePlace, WorkspaceSource } from './workspace.ts';

interface BaseEvent {
  /** In milliseconds since 1970. */
  readonly at: number;
}

interface AgentEvent extends BaseEvent {
  readonly agent: string;
  /** The state that the agent was in. */
  readonly state: string;
}

/** A run was created; it is on disk. */
export interface RunStarted extends BaseEvent {
  readonly kind: 'run_started';
  readonly run: string;
  readonly name: string;
  readonly workflow: Run['workflow'];
  readonly options: Options;
  /** The run that it begins in the middle of, and the point, in words; absent for any other run. */
  readonly rerunOf?: Pick<RerunOrigin, 'run' | 'point'>;
}

/** A run was resumed, with these options from here on. */
export interface RunResumed extends BaseEvent {
  readonly kind: 'run_resumed';
  readonly options: Options;
}

/** The run stops: no new turn is started, and running turns come to their end. */
interface RunStopping extends BaseEvent {
  readonly kind: 'run_stopping';
  readonly stop: StopReason;
  /** The agent that the limit of iterations keeps from entering its state; absent for other reasons. */
  readonly refused?: { readonly agent: string; readonly state: string };
}

/** Nothing is due any more: the run has ended, for good or until it is resumed. */
export interface RunEnded extends BaseEvent {
  readonly kind: 'run_ended';
  readonly status: Exclude<RunStatus, 'running'>;
  readonly spentMicros: number;
  readonly estimatedMicros: number;
  readonly cannedMicros: number;
  readonly tokens: Tokens;
}

/** An agent was started: `main`, which has no parent, or the worker of a fork. */
export interface AgentStarted extends AgentEvent {
  readonly kind: 'agent_started';
  readonly parent: string | null;
  readonly cwd: string;
  readonly input: string | null;
  readonly variables: Readonly<Record<string, string>>;
}

/** A turn is on record and about to start. */
export interface TurnStarted extends AgentEvent {
  readonly kind: 'turn_started';
  /** The file of the evaluator whose turn it is; null for a turn of the state itself. */
  readonly evaluator: string | null;
  readonly turn: number;
  readonly prompt: TurnPrompt['kind'];
  /** Null for a script. */
  readonly session: SessionUse | null;
  /** The files before the turn; left out if there is no snapshot of them. */
  readonly snapshot?: FolderSnapshot;
}

/** A turn ended, whether it succeeded or failed; its cost is in the ledger. */
export interface TurnEnded extends AgentEvent {
  readonly kind: 'turn_ended';
  /** As for its start. */
  readonly evaluator: string | null;
  readonly turn: number;
  /** Null for a script. */
  readonly session: string | null;
  readonly costMicros: number;
  readonly estimated: boolean;
  /** True if its answer was canned, so that nobody paid. */
  readonly canned: boolean;
  /** Its use and cost of each model; empty if unknown. */
  readonly models: readonly ModelShare[];
  /** The run's spending so far, including this turn. */
  readonly spentMicros: number;
  readonly durationMs: number;
  readonly failure: FailureKind | null;
  /** Tools that Claude Code was not allowed to use. */
  readonly denials: readonly string[];
  /** The last message of its conversation; left out if that is not known, and for a script. */
  readonly message?: string;
}

/** A turn has shown the user a text with `<print>`. It was shown while the turn ran; this is its record, at the turn's end. */
export interface Printed extends AgentEvent {
  readonly kind: 'printed';
  readonly turn: number;
  readonly text: string;
}

/** An agent moved on to another state, or ended. */
export interface Transitioned extends AgentEvent {
  readonly kind: 'transition';
  /** The first of `tags`. */
  readonly tag: TagName;
  /** The tags of the answer: one, or several forks and perhaps their goto. Empty for a guard, and where an old journal does not have them. */
  readonly tags: readonly FollowedTag[];
  /** The tags that the answer asked for; others than `tags` if somebody else made the choice. */
  readonly requested: readonly FollowedTag[];
  readonly choice: TransitionChoice;
  /** The state it went to; null if it ended. */
  readonly to: string | null;
  /** True if the policy left only this transition, so that the answer needed no tag. */
  readonly implicit: boolean;
  /** The outcome that a guard made a transition, instead of an answer; then there are no tags. Absent otherwise. */
  readonly guard?: CaughtOutcome;
  readonly session: string | null;
  /** How the first turn of the state came to its conversation; null for a script, and where an old journal does not say. */
  readonly sessionUse: SessionUse['kind'] | null;
  /** The folder in which it continues; empty where an old journal does not say. */
  readonly cwd: string;
  /** The number of callers on its return stack afterwards. */
  readonly depth: number;
  /** The cost of all turns in the state it left, and what they used. */
  readonly costMicros: number;
  readonly tokens: Tokens;
  /** The input of the next state, or the result if the agent ended. */
  readonly input: string | null;
}

/** An evaluator that is a script or a prompt has judged an answer. */
interface Evaluated extends AgentEvent {
  readonly kind: 'evaluated';
  /** The file of the evaluator. */
  readonly evaluator: string;
  readonly verdict: 'confirmed' | 'overridden';
  /** The transition that the answer asks for, as tags. */
  readonly transition: string;
  /** The first words that the evaluator said about it; null if it said none. */
  readonly why: string | null;
}

/** An answer was not valid and is asked for again. */
export interface Reminded extends AgentEvent {
  readonly kind: 'reminded';
  /** The file of the evaluator that is reminded; null for the state itself. */
  readonly evaluator: string | null;
  readonly problem: AnswerProblemKind;
  readonly message: string;
  readonly count: number;
  readonly limit: number;
}

/** A failed turn will be retried: after a delay, or when a usage limit ends. */
interface Sleeping extends AgentEvent {
  readonly kind: 'sleeping';
  readonly why: 'retry' | 'usage_limit';
  readonly untilMs: number;
  readonly failure: FailureKind;
  readonly message: string;
  readonly count: number;
}

/** The wait of an agent is over. */
interface Woken extends AgentEvent {
  readonly kind: 'woken';
}

/** A conversation could not be resumed: the next attempt forks it, or starts a new one. */
interface SessionLost extends AgentEvent {
  readonly kind: 'session_lost';
  readonly session: string;
  readonly next: 'fork' | 'new';
  readonly message: string;
}

/** The budget is used up: an answer is kept for a resume, but not followed. */
export interface AnswerWithheld
  extends AgentEvent,
    Pick<Transitioned, 'requested' | 'implicit' | 'session' | 'sessionUse' | 'cwd' | 'costMicros'> {
  readonly kind: 'answer_withheld';
}

/** `max_visits` keeps an agent from entering its state again. */
interface VisitLimit extends AgentEvent {
  readonly kind: 'visit_limit';
  readonly maxVisits: number;
}

/** An agent waits until the user has solved a problem. */
interface AgentPaused extends AgentEvent {
  readonly kind: 'agent_paused';
  readonly why: PauseReason;
  readonly message: string;
}

/** An agent failed; the others continue. */
interface AgentFailed extends AgentEvent {
  readonly kind: 'agent_failed';
  readonly message: string;
}

/** An agent ended with a result. */
export interface AgentEnded extends AgentEvent {
  readonly kind: 'agent_ended';
  readonly result: string;
}

/** A resume lets a paused, limited or failed agent continue where it stands. */
interface AgentResumed extends AgentEvent {
  readonly kind: 'agent_resumed';
}

/** The windows of the subscription are fuller or emptier than before. */
interface QuotaChanged {
  readonly kind: 'quota';
  readonly at: number;
  /** Null if the account has none. */
  readonly quota: Quota | null;
  /** How many Claude turns may run at once, if that is less than otherwise; else null. */
  readonly parallel: number | null;
}

/** Something is odd, but the run continues. */
interface Warned extends AgentEvent {
  readonly kind: 'warning';
  readonly message: string;
}

/** Something that happened in a run. An observer that has all events, in order, needs nothing else. */
export type Event =
  | RunStarted
  | RunResumed
  | RunStopping
  | RunEnded
  | RunWaiting
  | AgentStarted
  | TurnStarted
  | TurnEnded
  | Printed
  | Transitioned
  | Evaluated
  | Reminded
  | Sleeping
  | Woken
  | SessionLost
  | AskEvent
  | SaidToAgent
  | SaidDelivered
  | TurnInterrupted
  | AnswerWithheld
  | VisitLimit
  | AgentPaused
  | AgentFailed
  | AgentEnded
  | AgentResumed
  | CostCorrected
  | WorktreeEvent
  | Rehomed
  | WorkspaceEvent
  | QuotaChanged
  | Joining
  | Joined
  | Cancelling
  | AgentCancelled
  | Warned;

/** The outcome of a signal: the new run, and the events that led to it. */
export interface Step {
  readonly run: Run;
  readonly events: readonly Event[];
}

/** An agent asks a person, and waits for the answer. */
interface Asked extends AgentEvent {
  readonly kind: 'asked';
  readonly ask: string;
  readonly question: Question;
  /** When the question is over without an answer; null for never. */
  readonly untilMs: number | null;
  /** The folder that its files are in; null if the run has none. */
  readonly taskFolder: string | null;
}

/** A person answered; `by` says who, and `answeredAt` when, which may be long before. */
interface AskAnswered extends AgentEvent, AskAnswer {
  readonly kind: 'ask_answered';
}

/** Nobody answered in time. */
interface AskTimedOut extends AgentEvent {
  readonly kind: 'ask_timed_out';
  readonly ask: string;
}

/** Something that happened to a question. */
type AskEvent = Asked | AskAnswered | AskTimedOut;

/** The clone in which the agents of a run work is being made, or looked for again; nothing else starts meanwhile. */
interface WorkspaceOpening extends BaseEvent, WorkspaceSource {
  readonly kind: 'workspace_opening';
}

/** The clone of a run is there: agents that were in the folder `from`, or below it, are in the clone now. */
interface WorkspaceOpened extends BaseEvent, WorkspacePlace {
  readonly kind: 'workspace_opened';
  readonly from: string | null;
}

/** The run has come to rest, and its clone is looked at: the event of the run's end comes afterwards. */
interface WorkspaceLeaving extends BaseEvent {
  readonly kind: 'workspace_leaving';
  readonly path: string;
  readonly branch: string;
}

/** The content of a finished run's clone, whether it was pushed, and whether the clone was removed. */
export interface WorkspaceLeftEvent extends BaseEvent, Omit<WorkspaceContent, 'discarded'> {
  readonly kind: 'workspace_left';
  readonly path: string;
  readonly branch: string;
  readonly remote: string;
}

/** The events about the clone of a run. */
type WorkspaceEvent = WorkspaceOpening | WorkspaceOpened | WorkspaceLeaving | WorkspaceLeftEvent;
