import { editDistance, nearest } from '../core/nearest.ts';
import { COMMAND_TABLE } from './command-table.ts';

/** Every word that is a command. */
export const COMMAND_NAMES: readonly string[] = COMMAND_TABLE.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

/** The commands that a mistyped or unfinished word may stand for: all that are equally near, each by one name. */
export function findSimilarCommands(word: string): readonly string[] {
  const typed = word.toLowerCase();
  return COMMAND_TABLE.flatMap(({ name, aliases = [] }) => {
    const names = [name, ...aliases];
    return names.find((each) => isSimilar(typed, each)) ?? [];
  });
}

function isSimilar(word: string, name: string): boolean {
  if (word.length >= MIN_PREFIX_LETTERS && name.startsWith(word)) return true;
  const best = nearest(word, COMMAND_NAMES);
  return best !== undefined && editDistance(word, name) === editDistance(word, best);
}

/** With fewer, too many words begin alike. */
const MIN_PREFIX_LETTERS = 3;
