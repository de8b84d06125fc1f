import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { editDistance, nearest } from '../language/text/nearest.ts';
import { COMMAND_NAMES, HELP_FLAGS } from './argv.ts';
import { usageError } from './command.ts';
import { COMMAND_TABLE } from './command-table.ts';
import { splitLeadingFolders } from './leading-folders.ts';

/** Refuses a first word that is neither a command nor a path that exists: it would be taken for a workflow. */
export function refuseUnknownCommand(argv: readonly string[], start: string): void {
  const { folders, words } = splitLeadingFolders(argv);
  const [word = ''] = words;
  if (word === '' || /^-|[/\\.]/.test(word) || COMMAND_NAMES.includes(word) || word === 'help') return;
  if (words.some((each) => HELP_FLAGS.includes(each))) return;
  const cwd = resolve(start, ...folders);
  if (existsSync(resolve(cwd, word))) return;
  const commands = findMeantCommands(word).map((name) => `\`raymond ${name}\``);
  const meant = commands.length > 0 ? commands : findSimilarFiles(word, cwd);
  throw usageError(
    `there is no command or workflow \`${word}\``,
    meant.length > 0
      ? `Did you mean ${meant.join(' or ')}?`
      : 'A workflow is a folder, a .zip, a .yaml or a state file (.md, .sh, .bat, .ps1). `raymond --help` lists the commands.',
  );
}

/** The commands that a word may stand for: what other programs call so, else all that are equally similar, by one name each. */
function findMeantCommands(word: string): readonly string[] {
  const typed = word.toLowerCase();
  const called = COMMAND_TABLE.filter(({ alsoCalled = [] }) => alsoCalled.includes(typed)).map(({ name }) => name);
  if (called.length > 0) return called;
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

/** Shorter prefixes match too many commands. */
const MIN_PREFIX_LETTERS = 3;
const MAX_PATHS = 3;

function findSimilarFiles(word: string, cwd: string): readonly string[] {
  try {
    const names = readdirSync(cwd).filter((each) => !each.startsWith('.'));
    const name = nearest(word, names);
    if (name !== undefined) return [name];
    const inFolders = names.map((each) => `${each}/${word}`).filter((path) => existsSync(resolve(cwd, path)));
    return inFolders.slice(0, MAX_PATHS).map((path) => `\`raymond ${path}\``);
  } catch {
    return [];
  }
}
