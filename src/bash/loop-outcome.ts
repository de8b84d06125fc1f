import type { Condition } from './conditions.ts';
import type { InterpreterState } from './interpreter-state.ts';
import { alwaysIterates, findTagRepeatedPerIteration, type LoopCommand, mayIterateOverNothing } from './loops.ts';
import { allOutputs, type CommandOutcome, joinOutcomes, mapOutcome, succeedWith } from './outcomes.ts';
import { forgetSilence, joinOutputs, NO_PATHS, type PathOutputs, repeatTag, skipLoop } from './path-outputs.ts';

/** A loop whose body has been run once. */
export interface LoopRun {
  readonly loop: LoopCommand;
  /** The condition of another iteration. */
  readonly condition: Condition;
  /** The output before the body begins. */
  readonly inside: PathOutputs;
  /** The output if the loop ends before any iteration; empty if it never ends by itself. */
  readonly afterLoop: PathOutputs;
  readonly iterations: CommandOutcome;
  readonly leftByBreak: PathOutputs;
  /** True if the script can have ended before the loop. */
  readonly hasExit: boolean;
}

/** Computes the outcome of a loop from one analyzed iteration; tags that differ per iteration are looked for separately. */
export function joinIterations(run: LoopRun, state: InterpreterState): CommandOutcome {
  const { loop, condition, inside, afterLoop, iterations, leftByBreak } = run;
  if (afterLoop.size === 0) return succeedWith(leftByBreak);
  const withoutIteration = alwaysIterates(loop) ? NO_PATHS : afterLoop;
  if (!state.isPrinting(loop)) return joinOutcomes(succeedWith(joinOutputs(withoutIteration, leftByBreak)), iterations);
  const empty =
    mayIterateOverNothing(loop) && !run.hasExit
      ? skipLoop(withoutIteration, loop.pos, condition)
      : forgetSilence(withoutIteration);
  const continuesAfterPrinting = [...allOutputs(iterations).keys()].some((key) => !inside.has(key));
  // This loop searches and leaves as soon as it prints. That one item did not match says nothing about the others.
  if (!continuesAfterPrinting) {
    const silent = state.markSilent(inside, loop.pos, condition);
    return joinOutcomes(
      succeedWith(joinOutputs(empty, leftByBreak)),
      mapOutcome(iterations, (outputs) => (outputs.size === 0 ? outputs : silent)),
    );
  }
  const repeatedTag = state.around.reachesStdout ? findTagRepeatedPerIteration(loop) : undefined;
  const printed = (outputs: PathOutputs): PathOutputs =>
    forgetSilence(repeatedTag === undefined ? outputs : repeatTag(outputs, repeatedTag));
  return joinOutcomes(succeedWith(joinOutputs(empty, forgetSilence(leftByBreak))), mapOutcome(iterations, printed));
}
