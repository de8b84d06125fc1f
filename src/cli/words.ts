import { didYouMean } from '../core/nearest.ts';
import type { Words } from './entry.ts';
import { kebab, usage } from './usage.ts';

/** The text that was given for an option. */
export function textOf(words: Words, name: string): string | undefined {
  const value = words[name];
  return typeof value === 'string' ? value : undefined;
}

/** All that was given for an option that may be repeated. */
export function allOf(words: Words, name: string): readonly string[] {
  const value = words[name];
  return typeof value === 'object' ? value : [];
}

/** A number from 0 that was given for an option. */
export function amountOf(words: Words, name: string): number | undefined {
  const written = textOf(words, name);
  if (written === undefined) return undefined;
  const value = /^\d+(\.\d+)?$/.test(written.trim()) ? Number(written) : Number.NaN;
  if (Number.isNaN(value)) throw usage(`--${kebab(name)} must be a number from 0, not \`${written}\``);
  return value;
}

/** A whole number from 0 that was given for an option. */
export function countOf(words: Words, name: string): number | undefined {
  const value = amountOf(words, name);
  if (value === undefined || Number.isSafeInteger(value)) return value;
  throw usage(`--${kebab(name)} must be a whole number, not \`${textOf(words, name)}\``);
}

/** One of these words that was given for an option. */
export function choiceOf<Word extends string>(words: Words, name: string, choices: readonly Word[]): Word | undefined {
  const given = textOf(words, name);
  const choice = choices.find((each) => each === given);
  if (given === undefined || choice !== undefined) return choice;
  const meant = didYouMean(given, choices);
  throw usage(`--${kebab(name)} is ${listOf(choices)}, not \`${given}\`${meant}`);
}

/** `a, b or c`. */
const listOf = (choices: readonly string[]): string => `${choices.slice(0, -1).join(', ')} or ${choices.at(-1) ?? ''}`;
