import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { editDistance, nearest } from '../language/text/nearest.ts';
import { usageError } from './command.ts';
import { COMMAND_TABLE } from './command-table.ts';
import { splitLeadingFolders } from './leading-folders.ts';

/** All words that name a command. */
export const COMMAND_NAMES: readonly string[] = COMMAND_TABLE.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

/** The flags that ask for help. */
const HELP_FLAGS = ['-h', '--help'];
const PROGRAM_FLAGS = [...HELP_FLAGS, '-V', '--version'];

/**
 * Puts `run` before a workflow and `-C DIR` behind the command, and spells the other ways to ask for help or the version
 * as flags.
 */
export function normalizeArgv(argv: readonly string[]): readonly string[] {
  const { folders, words } = splitLeadingFolders(argv);
  const [first = '', ...rest] = words;
  if (first === 'help') return rest.length === 0 ? ['--help'] : [...rest.slice(0, 1), '--help'];
  if (first === '-v') return ['--version'];
  if (PROGRAM_FLAGS.includes(first)) return words;
  const folderFlags = folders.flatMap((folder) => ['-C', folder]);
  return COMMAND_NAMES.includes(first) ? [first, ...folderFlags, ...rest] : ['run', ...folderFlags, ...words];
}

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

/*
 * The program that Raymond's protocol comes from has command lines of its own, which scripts and habits still use. They mean
 * the same here: each is spelled as Raymond spells it before anything else looks at the words.
 */

/** Flags that are commands here. */
const FLAG_COMMANDS: Readonly<Record<string, string>> = {
  '--list': 'list',
  '--recover': 'recover',
  '--status': 'status',
};

const COMMANDS: Readonly<Record<string, string>> = { diagram: 'graph' };

/** Flags with another name, by command; one without a name here has a value that is an argument. */
const FLAGS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  run: { '--workflow-id': ['--run-id'] },
  lint: { '--win': ['--platform', 'windows'] },
  graph: { '--win': ['--platform', 'windows'] },
  convert: { '--output': [], '-o': [] },
};

const ASK_MODES: Readonly<Record<string, string>> = { pause: 'exit', reject: 'fail' };

/** Spells the words of the original's command lines as Raymond's own; any others stay as they are. */
export function translateOriginalWords(argv: readonly string[], commands: readonly string[]): readonly string[] {
  const { folders, words } = splitLeadingFolders(argv);
  return [...folders.flatMap((folder) => ['-C', folder]), ...translateWords(words, commands)];
}

function translateWords(words: readonly string[], commands: readonly string[]): readonly string[] {
  const [first, ...rest] = words;
  if (first === undefined) return words;
  if (first.startsWith('-')) {
    const at = words.findIndex((word) => flagName(word) in FLAG_COMMANDS);
    const found = words[at];
    if (found !== undefined) {
      const [name, value] = splitFlag(found);
      const command = FLAG_COMMANDS[name] ?? '';
      return [command, ...(value === null ? [] : [value]), ...words.slice(0, at), ...words.slice(at + 1)];
    }
  }
  const command = COMMANDS[first] ?? first;
  const isRun = !commands.includes(command) || command === 'start';
  const flags = FLAGS[isRun ? 'run' : command] ?? {};
  const end = rest.indexOf('--');
  const before = end === -1 ? rest : rest.slice(0, end);
  const own = isRun && first.startsWith('-') ? [first, ...before] : before;
  const head = isRun && first.startsWith('-') ? [] : [command];
  return [...head, ...own.flatMap((word, at) => translateWord(word, own[at - 1], flags)), ...rest.slice(before.length)];
}

function translateWord(
  word: string,
  previous: string | undefined,
  flags: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  if (previous === '--on-ask') return [ASK_MODES[word] ?? word];
  const [name, value] = splitFlag(word);
  if (name === '--on-ask' && value !== null) return [`${name}=${ASK_MODES[value] ?? value}`];
  if (name === '--dangerously-skip-permissions' && value !== null)
    return [value === 'false' ? '--no-dangerously-skip-permissions' : name];
  const spelled = Object.hasOwn(flags, name) ? flags[name] : undefined;
  return spelled === undefined ? [word] : [...spelled, ...(value === null ? [] : [value])];
}

const flagName = (word: string): string => splitFlag(word)[0];

/** `--name=value` as its two parts; the value is null if there is none. */
function splitFlag(word: string): readonly [name: string, value: string | null] {
  const at = word.indexOf('=');
  return word.startsWith('-') && at !== -1 ? [word.slice(0, at), word.slice(at + 1)] : [word, null];
}
