import { distance, nearest } from '../core/nearest.ts';
import { CATALOGUE } from './catalogue.ts';

/** Every word that is a command. */
export const NAMES: readonly string[] = CATALOGUE.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

/** The commands that a mistyped or unfinished word may stand for: all that are equally near, each by one name. */
export function commandsNear(word: string): readonly string[] {
  const wanted = word.toLowerCase();
  return CATALOGUE.flatMap(({ name, aliases = [] }) => {
    const names = [name, ...aliases];
    return names.find((each) => isNear(wanted, each)) ?? [];
  });
}

function isNear(word: string, name: string): boolean {
  if (word.length >= LEAST_LETTERS && name.startsWith(word)) return true;
  const best = nearest(word, NAMES);
  return best !== undefined && distance(word, name) === distance(word, best);
}

/** With fewer, too many words begin alike. */
const LEAST_LETTERS = 3;
