import type { Failure } from './failure.ts';
import type { CostReport } from './ledger.ts';
import type { NamedFolders } from './named-folders.ts';
import type { Options } from './options.ts';
import type { Rules } from './policy.ts';
import type { Scope } from './state-names.ts';

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
}

/** The state's file could not be read or is not valid. */
export interface Unreadable extends AgentSignal {
  readonly kind: 'unreadable';
  readonly message: string;
}

/** A turn ended with this text as its answer. */
export interface Answered extends AgentSignal {
  readonly kind: 'answered';
  readonly text: string;
  readonly cost: CostReport | null;
  /** Tools that Claude Code was not allowed to use. */
  readonly denials: readonly string[];
  readonly scope: Scope;
  readonly folders: NamedFolders;
}

/** A turn failed. `progress` says what its conversation holds: nothing, only the prompt, or part of an answer. */
export interface Failed extends AgentSignal {
  readonly kind: 'failed';
  readonly failure: Failure;
  readonly cost: CostReport | null;
  readonly progress: 'none' | 'prompt' | 'answer';
  /** A random number from 0 up to 1, for the back-off. */
  readonly jitter: number;
}

/** A sleep is over. */
export interface Woke extends AgentSignal {
  readonly kind: 'woke';
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
  /** By agent with an answer that was kept: for each folder named by a `cd`, its path now, or null. */
  readonly folders: Readonly<Record<string, NamedFolders>>;
}

/** Everything that the outside world can tell a run. */
export type Signal = Began | Unreadable | Answered | Failed | Woke | Stopped | Resumed;
