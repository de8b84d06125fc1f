import { badly, either, NOWHERE, type Outcome, unmet, well } from './outcome.ts';
import { type Conditions, joined, NONE, type Sayings, since, spokenUnder } from './sayings.ts';

/** A tag that is printed in vain, and what makes the script fail after it: an `exit`, or a last test. */
export interface Wasted {
  readonly tag: number;
  readonly end: number;
  readonly by: 'exit' | 'test';
}

/** The places where a script, or a function, is left before its end. */
export class Exits {
  /** What has been printed where the script ends well. */
  ends: Sayings = NONE;
  readonly wasted: Wasted[] = [];
  /** The conditions under which it gives up. */
  readonly guards: Conditions[number][] = [];
  /** Whether there is a way out already: what comes after it may well know that there is something to do. */
  isGuarded = false;
  private failures: Sayings = NONE;
  private returned: Outcome = NOWHERE;
  private isApart = false;

  /** An `exit` under these conditions; `said` is what was printed if it is a good end, and if it is a bad one. */
  leave(said: Outcome, code: string | undefined, at: number, around: Conditions): void {
    const bad = unmet(said);
    this.isGuarded = true;
    this.ends = joined(this.ends, since(said.ok, at));
    this.failures = joined(this.failures, bad);
    if (bad.size > 0) this.guards.push(...around.slice(-1));
    if (this.isApart || (code !== undefined && !/^\d+$/.test(code))) return;
    // That the command before an `exit` without a code has failed is possible, but not what it was written for.
    const sure = code === undefined && said.ok.size > 0 ? said.no : bad;
    for (const { at: tag } of spokenUnder(sure, around)) this.wasted.push({ tag, end: at, by: 'exit' });
  }

  /** A `return`. */
  goBack(said: Outcome): void {
    this.returned = either(this.returned, said);
  }

  /** What ends a subshell does not end the script. */
  apart(work: () => Outcome): Outcome {
    const { ends, failures, isApart } = this;
    this.ends = NONE;
    this.failures = NONE;
    this.isApart = true;
    const outcome = work();
    const whole = either(outcome, well(this.ends), badly(this.failures));
    this.ends = ends;
    this.failures = failures;
    this.isApart = isApart;
    return whole;
  }

  /** Nor does what ends a function. */
  within(work: () => Outcome): Outcome {
    const { returned } = this;
    this.returned = NOWHERE;
    const outcome = either(work(), this.returned);
    this.returned = returned;
    return outcome;
  }
}
