import {
  type CommandOutcome,
  failWith,
  joinOutcomes,
  succeedWith,
  UNREACHED,
  unsuccessfulOutputs,
} from './command-outcome.ts';
import {
  type Conditions,
  findPrintedTags,
  joinOutputs,
  markSilent,
  NO_PATHS,
  type PathOutputs,
} from './path-outputs.ts';

/** A tag that is printed in vain, and what makes the script fail after it: an `exit`, or a last test. */
export interface WastedTag {
  readonly tag: number;
  readonly end: number;
  readonly by: 'exit' | 'test';
}

/** The places where a script, or a function, is left before its end. */
export class Exits {
  /** What has been printed where the script ends well. */
  successOutputs: PathOutputs = NO_PATHS;
  readonly wastedTags: WastedTag[] = [];
  /** The conditions under which it gives up. */
  readonly guards: Conditions[number][] = [];
  /** Whether there is a way out already: what comes after it may well know that there is something to do. */
  hasExit = false;
  private failureOutputs: PathOutputs = NO_PATHS;
  private returned: CommandOutcome = UNREACHED;
  private inSubshell = false;

  /** An `exit` under these conditions; `said` is what was printed if it is a good end, and if it is a bad one. */
  recordExit(outcome: CommandOutcome, code: string | undefined, at: number, conditions: Conditions): void {
    const unsuccessful = unsuccessfulOutputs(outcome);
    this.hasExit = true;
    this.successOutputs = joinOutputs(this.successOutputs, markSilent(outcome.ok, at));
    this.failureOutputs = joinOutputs(this.failureOutputs, unsuccessful);
    if (unsuccessful.size > 0) this.guards.push(...conditions.slice(-1));
    if (this.inSubshell || (code !== undefined && !/^\d+$/.test(code))) return;
    // That the command before an `exit` without a code has failed is possible, but not what it was written for.
    const certain = code === undefined && outcome.ok.size > 0 ? outcome.no : unsuccessful;
    for (const { at: tag } of findPrintedTags(certain, conditions)) this.wastedTags.push({ tag, end: at, by: 'exit' });
  }

  /** A `return`. */
  recordReturn(outcome: CommandOutcome): void {
    this.returned = joinOutcomes(this.returned, outcome);
  }

  /** What ends a subshell does not end the script. */
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

  /** Nor does what ends a function. */
  runFunction(run: () => CommandOutcome): CommandOutcome {
    const { returned } = this;
    this.returned = UNREACHED;
    const outcome = joinOutcomes(run(), this.returned);
    this.returned = returned;
    return outcome;
  }
}
