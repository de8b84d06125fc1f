import type { AskAnswer } from './ask.ts';
import type { CheckedResults } from './checked-results.ts';
import type { PatternMatch } from './evaluator.ts';
import type { Failure } from './failure.ts';
import type { CostReport } from './ledger.ts';
import type { NamedFiles, NamedFolders } from './named-folders.ts';
import type { NamedWorkflows } from './named-workflows.ts';
import type { Options } from './options.ts';
import type { Rules } from './policy.ts';
import type { Quota } from './quota.ts';
import type { Scope } from './state-names.ts';
import type { WorkFolders } from './work-folders.ts';
import type { WorkspaceSignal } from './workspace-signal.ts';
import type { WorktreeContent, WorktreePlace } from './worktree.ts';

/** The folders, files and workflows that an answer names, as they are now, and the verdicts on its results. */
export interface AnswerNames {
  readonly folders: NamedFolders;
  readonly files?: NamedFiles;
  readonly workflows?: NamedWorkflows;
  readonly results?: CheckedResults;
}

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
  /** What other runs have learned of the quota since the last turn; left out if that is nothing. */
  readonly quota?: Quota;
}

/** The state's file could not be read or is not valid. */
export interface Unreadable extends AgentSignal {
  readonly kind: 'unreadable';
  readonly message: string;
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
 * if the user wants the agent to go on behind them; otherwise it is paused.
 */
export interface Unrecorded extends AgentSignal {
  readonly kind: 'unrecorded';
  readonly message: string;
  readonly turns: readonly UnrecordedTurn[];
  readonly enter: boolean;
}

/** A turn ended with this text as its answer. */
export interface Answered extends AgentSignal {
  readonly kind: 'answered';
  readonly text: string;
  readonly cost: CostReport | null;
  /** The conversation that Claude Code reported, if it is not the one that it was to use. */
  readonly reportedSession?: string;
  /** Tools that Claude Code was not allowed to use. */
  readonly denials: readonly string[];
  /** The texts of its `<print>` tags; left out if there are none. */
  readonly prints?: readonly string[];
  /** The files of the workflow that the agent is in. */
  readonly scope: Scope;
  readonly folders: NamedFolders;
  /** The files that an `input-file` names; left out if there are none. */
  readonly files?: NamedFiles;
  /** A digest of the answer's tags and of what shows progress, if the state has `stuck_after` and it could be computed. */
  readonly fingerprint?: string;
  /** The workflows that the answer names; left out if there are none. */
  readonly workflows?: NamedWorkflows;
  /** The verdicts on its results, if the state has a schema for them. */
  readonly results?: CheckedResults;
  /** By evaluator of the state, whether its pattern matches the text; left out if there are none. */
  readonly matches?: readonly PatternMatch[];
  /** In the turn of an evaluator: the names in the answer that it judges, looked up again. */
  readonly evaluated?: AnswerNames;
}

/** A turn failed. `progress` says what its conversation holds: nothing, only the prompt, or part of an answer. */
export interface Failed extends AgentSignal {
  readonly kind: 'failed';
  readonly failure: Failure;
  readonly cost: CostReport | null;
  readonly progress: 'none' | 'prompt' | 'answer';
  /** As for an answer. */
  readonly reportedSession?: string;
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
  /** What it does not hold any more, if it was there before and had to be made again. */
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
  /** What went wrong, if its content is not known or it could not be removed. */
  readonly warning?: string;
}

/**
 * The worker that has an agent's conversation and folder is gone, and with it a turn on record. The agent goes on at another one, or
 * fails if there is none to be.
 */
export interface HomeLost extends AgentSignal {
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
  /** Whether the running turn of the agent can be reached, if it has one. */
  readonly isReachable: boolean;
}

/** A person interrupts the running turn of an agent. */
export interface InterruptSignal {
  readonly kind: 'interrupt';
  readonly at: number;
  readonly about: { readonly agent: string };
  /** Its id. */
  readonly interrupt: string;
  /** What the agent goes on with; null if the person is to be asked. */
  readonly text: string | null;
  readonly by: string;
  readonly saidAt: number;
}

/** A running turn has got what was said to its agent. */
export interface HeardSignal {
  readonly kind: 'heard';
  readonly at: number;
  readonly about: { readonly agent: string };
  readonly said: string;
}

/** Something is odd in a turn that goes on. Not a signal of its agent, whose turn has not ended. */
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

/** The user wants the run to go on, perhaps with other options; `retry` includes failed agents. */
export interface Resumed {
  readonly kind: 'resumed';
  readonly at: number;
  readonly options: Partial<Options>;
  readonly retry: boolean;
  readonly scope: Scope;
  /** By agent with an answer that was kept, the files of the workflow that it is in, if that is not the run's own. */
  readonly scopes?: Readonly<Record<string, Scope>>;
  /** By agent with an answer that was kept: for each folder named by a `cd`, its path now, or null. */
  readonly folders: Readonly<Record<string, NamedFolders>>;
  /** The same for the files named by an `input-file`; left out if there are none. */
  readonly files?: Readonly<Record<string, NamedFiles>>;
  /** The same for the workflows that they name. */
  readonly workflows?: Readonly<Record<string, NamedWorkflows>>;
  /** The same for their results, by the schemas as they are now. */
  readonly results?: Readonly<Record<string, CheckedResults>>;
  /** The same for the answers that are being evaluated; left out if there are none. */
  readonly evaluated?: Readonly<Record<string, AnswerNames>>;
  /** By agent, whether the patterns of its evaluators match its answer; left out if there are none. */
  readonly matches?: Readonly<Record<string, readonly PatternMatch[]>>;
  /** The answers that were given meanwhile, and the questions whose time is over; left out if there are none. */
  readonly answers?: readonly AskAnswer[];
  readonly timedOut?: readonly string[];
  /** Whether a person watches the process that drives the run from now on. */
  readonly attended?: boolean;
  /** The folders for the agents of a run that has none yet. */
  readonly workFolders?: WorkFolders;
  /** Whether a state of the workflow mentions a join now. */
  readonly joins?: boolean;
  /** What is known of the account that is logged in now; null if that has no quota. */
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
  | HomeLost
  | WorkspaceSignal
  | AskAnsweredSignal
  | AskTimedOutSignal
  | SaidSignal
  | HeardSignal
  | InterruptSignal
  | Noticed
  | QuotaReported
  | Stopped
  | Resumed;
