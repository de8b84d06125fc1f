import type { SessionUse } from '../core/run/agent.ts';
import type { Answered } from '../core/signals/signal.ts';
import type { PromptTurn } from '../core/turns/due.ts';
import type { NotStarted, ProcessCommand, ProcessRef } from '../process/command.ts';
import type { TurnMessage } from './conversation.ts';
import type { OutputPosition, TurnLocator } from './records.ts';

/** A command with a key that is the same for all turns that can share its process. */
export interface KeyedCommand extends ProcessCommand {
  readonly key: string;
}

/** A turn and the process that it needs. */
export interface PlannedTurn {
  readonly turn: PromptTurn;
  readonly session: SessionUse;
  readonly command: KeyedCommand;
}

/** Tells the pool what a process says about its conversation. */
export interface ConnectionEvents {
  /** The backend has chosen a session. */
  readonly onOpened: (session: string) => void;
  /** An interruption has arrived: it ends no later turn. */
  readonly onAcknowledged: () => void;
}

/** Tells the room how far a turn has come. */
export interface SendEvents {
  /** The prompt was written: messages may follow. */
  readonly onSent: () => void;
  /** The turn is under way; `isEarlySafe` is false if no process may be started early any more. */
  readonly onBegun: (isEarlySafe: boolean) => void;
}

/** A turn that is over; one that the process has `missed` was not begun by it. */
export interface SendResult<Over> {
  readonly kind: 'over' | 'missed';
  readonly over: Over;
}

/** A process that takes one prompt after the other in one session. Only we hold the write end of its input. */
export interface Connection<Asked, Over> {
  readonly exited: Promise<unknown>;
  /** The bytes of output at which the next turn begins. */
  readonly position: OutputPosition;
  /** True if it can take this turn, too. */
  fits(asked: Asked): boolean;
  /** Sends the prompt of a turn under this id, and resolves when the turn is over. */
  send(asked: Asked, promptId: string, events: SendEvents): Promise<SendResult<Over>>;
  /** Writes a message into the running turn. False if that is not possible. */
  steer(message: TurnMessage): boolean;
  /** Tells it to end the running turn. False if that is not possible. */
  interrupt(): boolean;
  /** Lets it finish its turn and exit, without waiting for that. */
  hangUp(): void;
}

/** Everything that a backend adds to conversations: how one is opened, and what a turn of an earlier process has left. */
export interface ConversationProtocol<Asked extends PlannedTurn, Over, Left> {
  /** True if new sessions get their ids from the backend (`onOpened`); otherwise they have the id that is on record. */
  readonly choosesSession: boolean;
  /** Starts a process for this turn. */
  open(asked: Asked, process: ProcessRef, events: ConnectionEvents): Promise<Connection<Asked, Over> | NotStarted>;
  /** Finds a turn that an earlier process of Raymond has begun, and waits for its end. */
  recover(left: Left, locator: TurnLocator, process: ProcessRef): Promise<Over>;
  readonly early: EarlyStartProtocol<Asked, Over>;
}

/** Everything that a backend adds to early starts. */
export interface EarlyStartProtocol<Asked, Over> {
  /** The signal of a turn that is answered so. */
  answer(turn: PromptTurn, text: string): Promise<Answered>;
  /** Plans a turn that is to come; null if its process could not stay open. */
  plan(turn: PromptTurn, session: SessionUse): Promise<PlannedTurn | null>;
  /** False if a start has effects that would come too early, or in vain. */
  isSafe(planned: PlannedTurn): Promise<boolean>;
  /** A text that changes with everything that a process reads when it starts; null if that cannot be found out. */
  readSnapshot(planned: PlannedTurn): Promise<string | null>;
  /** Resolves when one more process may be started. */
  waitForStartSlot(): Promise<void>;
  /** Starts a process that waits for its first prompt. */
  open(
    planned: PlannedTurn,
    process: ProcessRef,
    events: ConnectionEvents,
  ): Promise<Connection<Asked, Over> | NotStarted>;
}
