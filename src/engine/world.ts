import type { Command } from '../core/command.ts';
import type { AppliedStep } from '../core/run/change.ts';
import type { Event } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import type { Began, Signal, Unreadable, Unrecorded } from '../core/signals/signal.ts';
import type { PromptTurn, ScriptTurn, Turn, TurnRef } from '../core/turns/due.ts';

/**
 * Everything that the loop needs from outside: turns, the disk and the observers of a run.
 *
 * `release`, `deliver` and `notify` follow the save of their steps, in this order. A crash in between loses them: a resume finds out
 * from the run what is left to do. They never throw.
 */
export interface World {
  /** Prepares a turn without starting anything; reports that it is ready or why it cannot begin. */
  prepare(turn: PromptTurn | ScriptTurn): Promise<Began | Unreadable | Unrecorded>;
  /** Carries out a turn that is on record and reports how it ended; null if it was dropped. */
  take(turn: Turn): Promise<Signal | null>;
  /** Ends what is under way for an agent: its turn reports how it ended, a sleep is dropped. */
  end(agent: string): void;
  /** Puts steps on disk. Once it has failed, nothing may be started. */
  save(steps: readonly AppliedStep[]): Promise<void>;
  /** Lets go of what the saved run does not need any more: conversations, and the folders of the turns that have ended. */
  release(run: Run, endedTurns: readonly TurnRef[]): void;
  /** Passes the requests of people that are on record to the running turns. */
  deliver(commands: readonly Command[]): void;
  /** Passes events to the observers. */
  notify(events: readonly Event[]): void;
}
