import type { ClaudeTurn, ScriptTurn, Turn } from '../core/due.ts';
import type { AppliedStep, Event } from '../core/event.ts';
import type { Began, Signal, Unreadable, Unrecorded } from '../core/signal.ts';

/** Everything that the loop needs from outside: turns, the disk and the observers of a run. */
export interface World {
  /** Prepares a turn without starting anything; reports that it is ready or why it cannot begin. */
  prepare(turn: ClaudeTurn | ScriptTurn): Promise<Began | Unreadable | Unrecorded>;
  /** Carries out a turn that is on record and reports how it ended; null if it was dropped. */
  take(turn: Turn): Promise<Signal | null>;
  /** Ends what is under way for an agent: its turn reports how it ended, a sleep is dropped. */
  end(agent: string): void;
  /** Puts steps on disk. Once it has failed, nothing may be started. */
  save(steps: readonly AppliedStep[]): Promise<void>;
  /** Passes events to the observers. It never throws. */
  notify(events: readonly Event[]): void;
}
