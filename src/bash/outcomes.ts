import type { Conditions } from './conditions.ts';
import { findPrintedTags, joinOutputs, markSilent, NO_PATHS, type PathOutputs } from './path-outputs.ts';
import type { SimpleCommand } from './simple-command.ts';

/** The possible outputs of a command, by exit status. */
export interface CommandOutcome {
  /** It succeeded. */
  readonly ok: PathOutputs;
  /** It was a test, and the answer is no. */
  readonly no: PathOutputs;
  /** It has failed. */
  readonly failed: PathOutputs;
}

/** A place that no path comes to. */
export const UNREACHED: CommandOutcome = { ok: NO_PATHS, no: NO_PATHS, failed: NO_PATHS };

/** A command that always succeeds. */
export const succeedWith = (ok: PathOutputs): CommandOutcome => ({ ...UNREACHED, ok });

/** A command that always fails. */
export const failWith = (failed: PathOutputs): CommandOutcome => ({ ...UNREACHED, failed });

/** The outputs of all exit statuses. */
export const allOutputs = ({ ok, no, failed }: CommandOutcome): PathOutputs => joinOutputs(ok, no, failed);

/** The outputs of a command that failed. */
export const unsuccessfulOutputs = ({ no, failed }: CommandOutcome): PathOutputs => joinOutputs(no, failed);

/** Merges the outcomes of several paths. */
export const joinOutcomes = (...outcomes: readonly CommandOutcome[]): CommandOutcome => ({
  ok: joinOutputs(...outcomes.map(({ ok }) => ok)),
  no: joinOutputs(...outcomes.map(({ no }) => no)),
  failed: joinOutputs(...outcomes.map(({ failed }) => failed)),
});

/** Changes what has been printed, whatever the exit status. */
export const mapOutcome = (
  { ok, no, failed }: CommandOutcome,
  change: (outputs: PathOutputs) => PathOutputs,
): CommandOutcome => ({
  ok: change(ok),
  no: change(no),
  failed: change(failed),
});

/** Commands that do not fail. */
const NEVER_FAILING_COMMANDS = new Set(['true', ':', 'echo', 'printf']);

/** Commands that answer a question by succeeding or not. */
const TEST_COMMANDS = new Set('[ [[ (( test grep egrep fgrep rg cmp diff pgrep command type which read'.split(' '));

/** Predicts how an ordinary command can end, once this has been printed. */
export function predictOutcome({ name, words }: SimpleCommand, outputs: PathOutputs): CommandOutcome {
  if (name === 'false') return failWith(outputs);
  const isConstant = words.every(({ substitutions }) => substitutions.length === 0);
  if (NEVER_FAILING_COMMANDS.has(name) || (name === '' && isConstant)) return succeedWith(outputs);
  return TEST_COMMANDS.has(name)
    ? { ok: outputs, no: outputs, failed: NO_PATHS }
    : { ok: outputs, no: NO_PATHS, failed: outputs };
}

/** A tag that is printed in vain, and what makes the script fail after it: an `exit`, or a test as its last command. */
export interface WastedTag {
  readonly tag: number;
  readonly end: number;
  readonly by: 'exit' | 'test';
}

/** Collects the paths that leave a script, a function or a loop before its end. */
export class Exits {
  /** The outputs of paths on which the script ends successfully. */
  successOutputs: PathOutputs = NO_PATHS;
  readonly wastedTags: WastedTag[] = [];
  /** Conditions under which the script exits with an error. */
  readonly guards: Conditions[number][] = [];
  /** True if the script can have exited already, perhaps because there was nothing to do. */
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
