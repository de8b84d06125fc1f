import {
  type CommandOutcome,
  failWith,
  joinOutcomes,
  succeedWith,
  UNREACHED,
  unsuccessfulOutputs,
} from './command-outcome.ts';
import type { Conditions } from './condition-logic.ts';
import { findPrintedTags, joinOutputs, markSilent, NO_PATHS, type PathOutputs } from './path-outputs.ts';

/** A tag that is printed in vain, and what makes the script fail after it: an `exit`, or a test as its last command. */
export interface WastedTag {
  readonly tag: number;
  readonly end: number;
  readonly by: 'exit' | 'test';
}

/** Collects the paths that leave a script, a function or a loop before its end. */
export class Exits {
  /** What has been printed where the script ends successfully. */
  successOutputs: PathOutputs = NO_PATHS;
  readonly wastedTags: WastedTag[] = [];
  /** Conditions under which the script exits with an error. */
  readonly guards: Conditions[number][] = [];
  /** Whether the script can have exited already, perhaps because there was nothing to do. */
  hasExit = false;
  private failureOutputs: PathOutputs = NO_PATHS;
  private returned: CommandOutcome = UNREACHED;
  private breaks: PathOutputs = NO_PATHS;
  private continues: PathOutputs = NO_PATHS;
  private inSubshell = false;

  /** Records an `exit` with this code under these conditions; the outcome is what has been printed before it. */
  recordExit(outcome: CommandOutcome, code: string | undefined, at: number, conditions: Conditions): void {
    const unsuccessful = unsuccessfulOutputs(outcome);
    this.hasExit = true;
    this.successOutputs = joinOutputs(this.successOutputs, markSilent(outcome.ok, at));
    this.failureOutputs = joinOutputs(this.failureOutputs, unsuccessful);
    if (unsuccessful.size > 0) this.guards.push(...conditions.slice(-1));
    if (this.inSubshell || (code !== undefined && !/^\d+$/.test(code))) return;
    // The command before an `exit` without a code may fail, but that is not what the `exit` was written for.
    const certain = code === undefined && outcome.ok.size > 0 ? outcome.no : unsuccessful;
    for (const { at: tag } of findPrintedTags(certain, conditions)) this.wastedTags.push({ tag, end: at, by: 'exit' });
  }

  /** Records a `return`. */
  recordReturn(outcome: CommandOutcome): void {
    this.returned = joinOutcomes(this.returned, outcome);
  }

  /** Records a `break`. */
  recordBreak(outputs: PathOutputs): void {
    this.breaks = joinOutputs(this.breaks, outputs);
  }

  /** Records a `continue`. */
  recordContinue(outputs: PathOutputs): void {
    this.continues = joinOutputs(this.continues, outputs);
  }

  /** Runs a subshell: an `exit` in it ends nothing else. */
  runInSubshell(run: () => CommandOutcome): CommandOutcome {
    const { successOutputs, failureOutputs, inSubshell } = this;
    this.successOutputs = NO_PATHS;
    this.failureOutputs = NO_PATHS;
    this.inSubshell = true;
    const outcome = run();
    const combined = joinOutcomes(outcome, succeedWith(this.successOutputs), failWith(this.failureOutputs));
    this.successOutputs = successOutputs;
    this.failureOutputs = failureOutputs;
    this.inSubshell = inSubshell;
    return combined;
  }

  /** Runs the body of a function: a `return` in it comes to its end. */
  runFunction(run: () => CommandOutcome): CommandOutcome {
    const { returned } = this;
    this.returned = UNREACHED;
    const outcome = joinOutcomes(run(), this.returned);
    this.returned = returned;
    return outcome;
  }

  /** Runs the body of a loop: a `continue` comes to its end, and a `break` leaves the loop. */
  runLoopBody(run: () => CommandOutcome): { readonly iterations: CommandOutcome; readonly leftByBreak: PathOutputs } {
    const { breaks, continues } = this;
    this.breaks = NO_PATHS;
    this.continues = NO_PATHS;
    const iterations = joinOutcomes(run(), succeedWith(this.continues));
    const leftByBreak = this.breaks;
    this.breaks = breaks;
    this.continues = continues;
    return { iterations, leftByBreak };
  }
}
