import { splitCommandWords } from './command-output.ts';
import { joinOutputs, NO_PATHS, type PathOutputs } from './path-outputs.ts';
import type { Word } from './word.ts';

/** What may have been printed when a command has ended. */
export interface CommandOutcome {
  /** It went well. */
  readonly ok: PathOutputs;
  /** It was a question, and the answer is no. */
  readonly no: PathOutputs;
  /** It has failed. */
  readonly failed: PathOutputs;
}

export const UNREACHED: CommandOutcome = { ok: NO_PATHS, no: NO_PATHS, failed: NO_PATHS };

export const succeedWith = (ok: PathOutputs): CommandOutcome => ({ ...UNREACHED, ok });

export const failWith = (failed: PathOutputs): CommandOutcome => ({ ...UNREACHED, failed });

/** However it ended. */
export const allOutputs = ({ ok, no, failed }: CommandOutcome): PathOutputs => joinOutputs(ok, no, failed);

/** If it did not go well. */
export const unsuccessfulOutputs = ({ no, failed }: CommandOutcome): PathOutputs => joinOutputs(no, failed);

export const joinOutcomes = (...outcomes: readonly CommandOutcome[]): CommandOutcome => ({
  ok: joinOutputs(...outcomes.map(({ ok }) => ok)),
  no: joinOutputs(...outcomes.map(({ no }) => no)),
  failed: joinOutputs(...outcomes.map(({ failed }) => failed)),
});

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

/** Commands that say yes or no. */
const TEST_COMMANDS = new Set('[ [[ (( test grep egrep fgrep rg cmp diff pgrep command type which read'.split(' '));

/** How an ordinary command can end, once this has been printed. */
export function predictOutcome(words: readonly Word[], outputs: PathOutputs): CommandOutcome {
  const { name } = splitCommandWords(words);
  if (name === 'false') return failWith(outputs);
  if (NEVER_FAILING_COMMANDS.has(name) || (name === '' && words.every(isConstant))) return succeedWith(outputs);
  return TEST_COMMANDS.has(name)
    ? { ok: outputs, no: outputs, failed: NO_PATHS }
    : { ok: outputs, no: NO_PATHS, failed: outputs };
}

const isConstant = ({ substitutionRanges }: Word): boolean => substitutionRanges.length === 0;

/** The end of something that gives this code. */
export const exitWithCode = (code: string, outputs: PathOutputs): CommandOutcome =>
  code === '0' ? succeedWith(outputs) : failWith(outputs);
