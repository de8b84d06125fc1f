import type { Words } from './entry.ts';
import { amountOf } from './words.ts';

const SECONDS = 60;

/** How long a scenario may take, in milliseconds: what `--timeout` says, where 0 stands for as long as it likes. */
export function patienceOf(words: Words): number {
  const seconds = amountOf(words, 'timeout') ?? SECONDS;
  return seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000;
}
