import type { ClaudeTurn, ScriptTurn, Turn } from '../core/due.ts';
import type { AppliedStep, Event } from '../core/event.ts';
import type { Began, Signal, Unreadable } from '../core/signal.ts';

/** What the loop needs of the outside: everything that can happen, behind four words. */
export interface World {
  /** Gets a turn ready without starting anything, and says so, or says why it cannot begin. */
  prepare(turn: ClaudeTurn | ScriptTurn): Promise<Began | Unreadable>;
  /** Carries out a turn that is on record and says what came of it; null if it was dropped. */
  take(turn: Turn): Promise<Signal | null>;
  /** Puts steps on disk. Once it has failed, nothing may start. */
  save(steps: readonly AppliedStep[]): Promise<void>;
  /** Tells whoever watches. It never throws. */
  tell(events: readonly Event[]): void;
}
