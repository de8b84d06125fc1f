import { badly, type Outcome, well } from './outcome.ts';
import { NONE, type Sayings } from './sayings.ts';
import { nameOf } from './speech.ts';
import type { Word } from './word.ts';

/** Commands that do not fail. */
const SURE = new Set(['true', ':', 'echo', 'printf']);

/** Commands that say yes or no. */
const QUESTIONS = new Set('[ [[ (( test grep egrep fgrep rg cmp diff pgrep command type which read'.split(' '));

/** How an ordinary command can end, once this has been printed. */
export function outcomeOf(words: readonly Word[], said: Sayings): Outcome {
  const { name } = nameOf(words);
  if (name === 'false') return badly(said);
  if (SURE.has(name) || (name === '' && words.every(isConstant))) return well(said);
  return QUESTIONS.has(name) ? { ok: said, no: said, failed: NONE } : { ok: said, no: NONE, failed: said };
}

const isConstant = ({ inner }: Word): boolean => inner.length === 0;

/** The end of something that gives this code. */
export const withCode = (code: string, said: Sayings): Outcome => (code === '0' ? well(said) : badly(said));
