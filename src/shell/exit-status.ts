import { type CommandOutcome, failWith, succeedWith } from './command-outcome.ts';
import { NO_PATHS, type PathOutputs } from './path-outputs.ts';
import { splitCommandWords } from './command-output.ts';
import type { Word } from './word.ts';

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
