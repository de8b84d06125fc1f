import type { ClaudeTurn, ScriptTurn } from '../core/due.ts';
import type { Answered, Failed } from '../core/signal.ts';
import type { State } from '../core/state.ts';

/** Who answers prompts: Claude Code, or someone who plays it. */
export interface Backend {
  /** Makes the turn's folder with everything in it that the turn needs; gives back what the author should know. */
  prepare(turn: ClaudeTurn, state: State): Promise<readonly string[]>;
  /** Carries out a turn, or finds one again that was started in an earlier life. */
  take(turn: ClaudeTurn, adopted: 'this' | 'earlier'): Promise<Answered | Failed>;
  /** Who takes the turns of a script instead of running it; left out by a backend that plays no scripts. */
  scriptRunnerFor?(script: string): ScriptRunner | undefined;
}

/** Who takes the turns of scripts: as a backend does for prompts. */
export interface ScriptRunner {
  prepare(turn: ScriptTurn, state: State): Promise<readonly string[]>;
  take(turn: ScriptTurn, adopted: 'this' | 'earlier'): Promise<Answered | Failed>;
}
