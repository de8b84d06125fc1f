import { type Conditions, joined, NONE, type Sayings, since, spokenUnder } from './sayings.ts';

/** A tag that is printed in vain, and what makes the script fail after it: an `exit`, or a last test. */
export interface Wasted {
  readonly tag: number;
  readonly end: number;
  readonly by: 'exit' | 'test';
}

/** What may have been printed when a command has ended, well or badly. */
export interface Outcome {
  readonly ok: Sayings;
  readonly failed: Sayings;
}

/** The places where a script is left before its end. */
export class Exits {
  /** What has been printed where it ends well. */
  ends: Sayings = NONE;
  readonly wasted: Wasted[] = [];
  /** Whether there is a way out already: what comes after it may well know that there is something to do. */
  isGuarded = false;
  private failures: Sayings = NONE;
  private isApart = false;

  /** An `exit` under these conditions. */
  leave(code: string | undefined, at: number, said: Sayings, around: Conditions): void {
    this.isGuarded = true;
    if (code === undefined || code === '0') {
      this.ends = joined(this.ends, since(said, at));
      return;
    }
    this.failures = joined(this.failures, said);
    if (this.isApart || !/^\d+$/.test(code)) return;
    for (const { at: tag } of spokenUnder(said, around)) this.wasted.push({ tag, end: at, by: 'exit' });
  }

  /** What ends a subshell does not end the script. */
  apart(work: () => Outcome): Outcome {
    const { ends, failures, isApart } = this;
    this.ends = NONE;
    this.failures = NONE;
    this.isApart = true;
    const { ok, failed } = work();
    const outcome = { ok: joined(ok, this.ends), failed: joined(failed, this.failures) };
    this.ends = ends;
    this.failures = failures;
    this.isApart = isApart;
    return outcome;
  }
}
