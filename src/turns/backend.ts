import type { Run } from '../core/run/run.ts';
import type { Said } from '../core/run/said.ts';
import type { Answered, Failed } from '../core/signals/signal.ts';
import type { AskTurn } from '../core/turns/ask-turn.ts';
import type { ClaudeTurn, ScriptTurn } from '../core/turns/due.ts';
import type { Decision } from '../language/permission.ts';
import type { State } from '../language/state.ts';
import type { AskEndSignal } from './open-questions.ts';

/** Answers prompts: Claude Code, or the replay of canned answers. */
export interface Backend {
  /** Makes the turn's folder with everything in it that the turn needs; returns warnings for the author. */
  prepare(turn: ClaudeTurn, state: State): Promise<readonly string[]>;
  /** The id for the conversation that a turn opens, if a process waits for its prompt under that id. */
  sessionFor?(turn: ClaudeTurn): string | undefined;
  /** Carries out a turn. An `adopted` one was started by an earlier process: it is found again, not started twice. */
  take(turn: ClaudeTurn, adopted: boolean): Promise<Answered | Failed>;
  /** Lets go of what the run, as it is on disk now, does not need any more. */
  release?(run: Run): void;
  /** True if something can be written into the running turn of an agent. */
  canReach?(agent: string): boolean;
  /** Writes what was said to an agent into this turn of it, if that is still possible. */
  say?(agent: string, turn: number, words: Pick<Said, 'id' | 'text'>): void;
  /** Tells the process of this turn what a person has decided about a tool that it waits with. */
  decide?(agent: string, turn: number, ask: string, decision: Decision): void;
  /** Ends the process of an agent's turn that waits for a person. */
  park?(agent: string): void;
  /** Interrupts the running turn of an agent, which then ends by itself. False if that is not possible. */
  interrupt?(agent: string): boolean;
  /** Ends what the backend keeps between turns. */
  close?(): Promise<void>;
  /** Waits for the answer to a question in place of people; undefined if it has none. */
  waitForAnswer?(turn: AskTurn): Promise<AskEndSignal> | undefined;
  /** Takes the turns of a script instead of running it; left out by a backend that replays no scripts. */
  scriptRunnerFor?(script: string): ScriptRunner | undefined;
}

/** Takes the turns of scripts, as a backend does for prompts. */
export interface ScriptRunner {
  prepare(turn: ScriptTurn, state: State): Promise<readonly string[]>;
  take(turn: ScriptTurn, adopted: boolean): Promise<Answered | Failed>;
}
