import { joinOutputs, NO_PATHS, type PathOutputs } from './path-outputs.ts';
import type { SimpleCommand } from './simple-command.ts';

/** What may have been printed when a command has ended, by its exit status. */
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

/** What has been printed, however the command ended. */
export const allOutputs = ({ ok, no, failed }: CommandOutcome): PathOutputs => joinOutputs(ok, no, failed);

/** What has been printed if the command did not succeed. */
export const unsuccessfulOutputs = ({ no, failed }: CommandOutcome): PathOutputs => joinOutputs(no, failed);

/** What may have happened where several paths come together. */
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

/** The end of a script or a function with this exit code. */
export const exitWithCode = (code: string, outputs: PathOutputs): CommandOutcome =>
  code === '0' ? succeedWith(outputs) : failWith(outputs);
