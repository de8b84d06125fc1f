import type { AskAnswer } from '../../language/ask.ts';
import type { Choices } from '../../language/choices.ts';
import type { Failure } from '../../language/failure.ts';
import type { PermissionRequest } from '../../language/permission.ts';
import type { ChangedFile, PinnedCode } from '../../language/pinned-code.ts';
import type { Rules } from '../../language/policy.ts';
import type { LookedUp, TurnAnswer } from '../answers/looked-up.ts';
import type { Options } from '../options/options.ts';
import type { CostReport } from '../run/ledger.ts';
import type { Quota } from '../run/quota.ts';
import type { WorkFolders } from '../run/work-folders.ts';
import type { WorktreeContent, WorktreePlace } from '../run/worktree.ts';
import type { WorkspaceSignal } from './workspace-signal.ts';

interface AgentSignal {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly agent: string;
}

/** A turn is about to start. `sessionId` is a new id, used if the turn opens a conversation. */
export interface Began extends AgentSignal {
  readonly kind: 'began';
  readonly sessionId: string;
  /** The rules of the state, if its file was read for this turn. */
  readonly rules: Rules | null;
  readonly warnings: readonly string[];
  /** News of the quota from other runs since the last turn; left out if there is none. */
  readonly quota?: Quota;
}

/** The state's file could not be read or is not valid, or the turn would use code that has changed. */
export interface Unreadable extends AgentSignal {
  readonly kind: 'unreadable';
  readonly message: string;
  /** The changed code; left out if the file is the problem. */
  readonly changed?: readonly ChangedFile[];
}

/** A turn of an agent that has begun, although the journal has no record of it. */
export interface UnrecordedTurn {
  readonly number: number;
  readonly state: string;
  /** The conversation it used; null for a script, and if it cannot be found out. */
  readonly session: string | null;
  /** Null for a script, and if it cannot be found out. */
  readonly cost: CostReport | null;
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * The next turns of an agent have begun already, but the journal has no record of them: its end was lost. They are entered
 * if the user wants the agent to continue behind them; otherwise it is paused.
 */
export interface Unrecorded extends AgentSignal {
  readonly kind: 'unrecorded';
  readonly message: string;
  readonly turns: readonly UnrecordedTurn[];
  readonly enter: boolean;
}

/** A turn ended with this text as its answer. */
export interface Answered extends AgentSignal, TurnAnswer {
  readonly kind: 'answered';
  readonly cost: CostReport | null;
  /** The conversation that Claude Code reported, if it is not the one that it was to use. */
  readonly reportedSession?: string;
  /** The model that Claude Code reported, if nobody had named one for the turn. */
  readonly model?: string;
  /** The texts of its `<print>` tags; left out if there are none. */
  readonly prints?: readonly string[];
}

/** A turn failed. `progress` says what its conversation holds: nothing, only the prompt, or part of an answer. */
export interface Failed extends AgentSignal {
  readonly kind: 'failed';
  readonly failure: Failure;
  readonly cost: CostReport | null;
  readonly progress: 'none' | 'prompt' | 'answer';
  /** As for an answer. */
  readonly reportedSession?: string;
  /** As for an answer. */
  readonly model?: string;
  /** Tools that Claude Code was not allowed to use. */
  readonly denials?: readonly string[];
  /** As for an answer. */
  readonly prints?: readonly string[];
  /** A random number from 0 up to 1, for the back-off. */
  readonly jitter: number;
}

/** A sleep is over. */
export interface Woke extends AgentSignal {
  readonly kind: 'woke';
}

/** The worktree of a worker is there; a worker that has not been in it before begins in this folder of it. */
export interface WorktreeMade extends AgentSignal {
  readonly kind: 'worktree_made';
  readonly place: WorktreePlace;
  readonly cwd: string;
  /** The worker that has it from now on; left out if that is the one of before. */
  readonly home?: string;
  /** The content that is lost, if it existed before and had to be recreated. */
  readonly warning?: string;
}

/** The worktree of a worker cannot be made. */
export interface WorktreeRefused extends AgentSignal {
  readonly kind: 'worktree_refused';
  readonly message: string;
}

/** The worktree of a worker that ended was looked at, and removed if it holds nothing new; or there is none that was half made. */
export interface WorktreeClosed extends AgentSignal {
  readonly kind: 'worktree_closed';
  readonly content: WorktreeContent;
  /** The problem, if its content is unknown or it could not be removed. */
  readonly warning?: string;
}

/**
 * The worker that has an agent's conversation and folder is gone, and with it a turn on record. The agent continues at another one, or
 * fails if there is none to be.
 */
export interface NodeLost extends AgentSignal {
  readonly kind: 'home_lost';
  readonly home: string;
  /** Its new home; null if it fails. */
  readonly to: string | null;
  /** False if the turn on record surely never started. */
  readonly mayHaveRun: boolean;
  /** As for a failed turn. */
  readonly jitter: number;
}

/** A person answered the question of an agent. */
export interface AskAnsweredSignal extends AgentSignal, AskAnswer {
  readonly kind: 'ask_answered';
}

/** The time for an answer is over. */
export interface AskTimedOutSignal extends AgentSignal {
  readonly kind: 'ask_timed_out';
  readonly ask: string;
}

/** A person says something to an agent. Not a signal of the agent, whose turn has not ended. */
export interface SaidSignal {
  readonly kind: 'said';
  readonly at: number;
  readonly about: { readonly agent: string };
  /** The id of what is said. */
  readonly said: string;
  readonly text: string;
  readonly by: string;
  readonly saidAt: number;
  /** True if the running turn of the agent can be reached, if it has one. */
  readonly isReachable: boolean;
}

/** A person interrupts the running turn of an agent. */
export interface InterruptSignal {
  readonly kind: 'interrupt';
  readonly at: number;
  readonly about: { readonly agent: string };
  /** Its id. */
  readonly interrupt: string;
  /** The text that the agent continues with; null to ask the person. */
  readonly text: string | null;
  readonly by: string;
  readonly saidAt: number;
}

/** A running turn has got what was said to its agent. */
export interface DeliveredSignal {
  readonly kind: 'heard';
  readonly at: number;
  readonly about: { readonly agent: string };
  readonly said: string;
}

/** The process of a turn waits for the word of a person on a tool. Not a signal of the agent, whose turn has not ended. */
export interface PermissionAsked {
  readonly kind: 'permission_asked';
  readonly at: number;
  readonly about: { readonly agent: string };
  readonly turn: number;
  /** Counted within the turn, from 1. */
  readonly number: number;
  readonly request: PermissionRequest;
  /** The text for people, and the answers that the agent offers; null for none. */
  readonly text: string;
  readonly choices: Choices | null;
  readonly timeoutMs: number | null;
}

/** A person has answered a question about a tool, or its time is over: then there is no answer. */
export interface PermissionAnswered {
  readonly kind: 'permission_answered';
  readonly at: number;
  readonly about: { readonly agent: string };
  readonly ask: string;
  readonly answer: AskAnswer | null;
}

/** The backend has the decision about a tool, or does not ask any more. */
export interface PermissionClosed {
  readonly kind: 'permission_closed';
  readonly at: number;
  readonly about: { readonly agent: string };
  readonly ask: string;
  readonly outcome: 'delivered' | 'cancelled';
}

/** The cost of a turn has come to light that was unknown when it ended. Not a signal of its agent, which may be at another turn. */
export interface CostFound {
  readonly kind: 'cost_found';
  readonly at: number;
  readonly about: { readonly agent: string };
  readonly turn: number;
  readonly cost: CostReport;
}

/** Something is odd in a turn that continues. Not a signal of its agent, whose turn has not ended. */
export interface Noticed {
  readonly kind: 'noticed';
  readonly at: number;
  readonly about: { readonly agent: string; readonly state: string };
  readonly message: string;
}

/** Claude Code told how full the windows of the subscription are. */
export interface QuotaReported {
  readonly kind: 'quota_reported';
  readonly at: number;
  readonly quota: Quota;
}

/** The user wants the run to stop. */
export interface Stopped {
  readonly kind: 'stopped';
  readonly at: number;
  readonly by: 'interrupted' | 'stopped';
}

/** A person removed worktrees of agents that have ended, with the work in them; that of `main` is the clone of the run. */
export interface WorktreesDiscarded {
  readonly kind: 'worktrees_discarded';
  readonly at: number;
  readonly worktrees: readonly ({ readonly agent: string } & Pick<WorktreePlace, 'path' | 'branch'>)[];
}

/** The user wants the run to continue, perhaps with other options; `retry` includes failed agents. */
export interface Resumed {
  readonly kind: 'resumed';
  readonly at: number;
  readonly options: Partial<Options>;
  readonly retry: boolean;
  /** By agent with an answer that was kept: the names in it, looked up again. */
  readonly lookedUp: Readonly<Record<string, LookedUp>>;
  /** The answers that were given meanwhile, and the questions whose time is over; left out if there are none. */
  readonly answers?: readonly AskAnswer[];
  readonly timedOut?: readonly string[];
  /** True if a person watches the process that drives the run from now on. */
  readonly attended?: boolean;
  /** The folders for the agents of a run that has none yet. */
  readonly workFolders?: WorkFolders;
  /** True if a state of the workflow mentions a join now. */
  readonly joins?: boolean;
  /** The code that the run may use from now on; left out if that has not changed. */
  readonly code?: PinnedCode;
  /** The files whose changes are accepted with it, for people. */
  readonly accepted?: readonly string[];
  /** The quota of the account that is logged in now; null if it has none. */
  readonly quota?: Quota | null;
}

/** Everything that the outside world can tell a run. */
export type Signal =
  | Began
  | Unreadable
  | Unrecorded
  | Answered
  | Failed
  | Woke
  | WorktreeMade
  | WorktreeRefused
  | WorktreeClosed
  | NodeLost
  | WorkspaceSignal
  | AskAnsweredSignal
  | AskTimedOutSignal
  | SaidSignal
  | DeliveredSignal
  | InterruptSignal
  | PermissionAsked
  | PermissionAnswered
  | PermissionClosed
  | CostFound
  | Noticed
  | QuotaReported
  | Stopped
  | WorktreesDiscarded
  | Resumed;
