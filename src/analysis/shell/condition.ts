import type { List, Part } from './command.ts';
import type { Condition } from './sayings.ts';
import { nameOf } from './speech.ts';
import { linesOf } from './walk.ts';
import type { Word } from './word.ts';

/** The condition that these commands make up. */
export function conditionOf(test: List): Condition {
  return new Set(linesOf(test).flatMap(({ words }) => aboutWords(words)));
}

/** The condition of what follows them behind `&&` or `||`. */
export const conditionOfParts = (parts: readonly Part[]): Condition =>
  conditionOf([{ first: { negated: false, parts }, rest: [] }]);

/** The condition of the arms of a `case`. */
export const conditionOfWord = (word: Word | null): Condition => new Set(word === null ? [] : aboutWord(word));

/** Commands that do something and hardly ever decide anything. */
const DEEDS = new Set('echo printf exit return break continue mkdir rm cp mv touch cd sleep : true false'.split(' '));

function aboutWords(words: readonly Word[]): readonly string[] {
  const { name, args } = nameOf(words);
  if (DEEDS.has(name)) return [];
  if (name === '') return words.flatMap(({ asks }) => asks);
  return args.length === 0 ? [name] : args.flatMap(aboutWord);
}

/** Operators, options and numbers say how things are compared, not which. */
function aboutWord({ text, asks }: Word): readonly string[] {
  const compares = text === '' || /^(?:-.*|\d+|[!=<>]+|=~|\]{1,2})$/.test(text);
  return asks.length > 0 || compares ? asks : [text];
}
