import type { RunNames } from '../../app/run-files.ts';
import { OPTIONS } from '../../core/options/options.ts';
import { FLAG_CHOICES } from '../choices.ts';
import { type CommandSpec, type FlagSpec, FOLDER_FLAG } from '../command.ts';
import { splitLeadingFolders } from '../leading-folders.ts';
import { COMPLETION_SHELLS } from './scripts.ts';

/** A word that fits, and its meaning. */
export interface Completion {
  readonly word: string;
  readonly help: string;
}

/** The candidates at a place of the command line. */
export interface Completions {
  /** True if names of files and folders fit, too. */
  readonly files: boolean;
  readonly words: readonly Completion[];
}

/** The parsed command line. */
export interface CompletionContext {
  readonly commands: readonly CommandSpec[];
  /** The ids of the runs, in the folders of `-C` that stand before the command. */
  readonly listRuns: (folders: readonly string[]) => Promise<readonly string[]>;
  /** The states that a run has been in, and its agents. */
  readonly readRun: (folders: readonly string[], run: string) => Promise<RunNames>;
}

const HELP_FLAG: FlagSpec = ['--help', 'show this help'];
const NOTHING: Completions = { files: false, words: [] };
const FILES: Completions = { files: true, words: [] };

/** Completes the last of these words, which follow the name of the program. */
export async function completeWords(argv: readonly string[], context: CompletionContext): Promise<Completions> {
  const current = argv.at(-1) ?? '';
  const { folders, words: before } = splitLeadingFolders(argv.slice(0, -1));
  const found = await findCompletions(before, current, context, folders);
  return { ...found, words: found.words.filter(({ word }) => word.startsWith(current)) };
}

async function findCompletions(
  before: readonly string[],
  current: string,
  { commands, listRuns, readRun }: CompletionContext,
  folders: readonly string[],
): Promise<Completions> {
  const [first] = before;
  const named = commands.find(({ name, aliases = [] }) => first !== undefined && [name, ...aliases].includes(first));
  // `raymond WORKFLOW` takes the options of `run`.
  const command = named ?? commands.find(({ name }) => name === 'run');
  if (command === undefined || before.at(-1) === '-C') return FILES;
  const flags = [...command.flags, FOLDER_FLAG, HELP_FLAG];
  const runs = async (): Promise<readonly Completion[]> => describeWords([...(await listRuns(folders)), 'last'], 'run');
  const taking = flags.find(([form]) => flagName(form) === before.at(-1) && /[<[]/.test(form));
  const readNames = (): Promise<RunNames> => readRun(folders, findArgument(before.slice(1), flags) ?? 'last');
  if (taking !== undefined) return completeValue(command, taking, runs, readNames);
  if (current.startsWith('-'))
    return { files: false, words: flags.map(([form, help]) => ({ word: flagName(form), help })) };
  if (first === undefined)
    return { files: true, words: commands.map(({ name, summary }) => ({ word: name, help: summary })) };
  return completeArgument(command, before, runs);
}

/** The values of a flag: the words that it takes, runs, what a run consists of, or files. */
async function completeValue(
  { name: command }: CommandSpec,
  [form]: FlagSpec,
  runs: () => Promise<readonly Completion[]>,
  readNames: () => Promise<RunNames>,
): Promise<Completions> {
  const name = flagName(form);
  const option = OPTIONS.find(({ key }) => `--${key.replaceAll('_', '-')}` === name);
  const choices = FLAG_CHOICES[`${command} ${name}`] ?? option?.type.choices ?? [];
  if (choices.length > 0) return { files: false, words: describeWords(choices, name) };
  if (form.includes('<run>')) return { files: false, words: await runs() };
  if (form.includes('<state>')) return { files: false, words: describeWords((await readNames()).states, 'state') };
  if (form.includes('<agent>')) return { files: false, words: describeWords((await readNames()).agents, 'agent') };
  return /<(?:file|folder|path|who)>|\[path\]/.test(form) || name === '--input' ? FILES : NOTHING;
}

const describeWords = (words: readonly string[], help: string): readonly Completion[] =>
  words.map((word) => ({ word, help }));

/** The first word that is neither a flag nor the value of one. */
function findArgument(words: readonly string[], flags: readonly FlagSpec[]): string | undefined {
  const takesValue = (word = ''): boolean => flags.some(([form]) => flagName(form) === word && form.includes('<'));
  return words.find((word, at) => !word.startsWith('-') && !takesValue(words[at - 1]));
}

async function completeArgument(
  { name, args = '' }: CommandSpec,
  before: readonly string[],
  runs: () => Promise<readonly Completion[]>,
): Promise<Completions> {
  if (args.includes('SHELL')) return { files: false, words: describeWords(COMPLETION_SHELLS, 'shell') };
  if (args.includes('RUN')) return { files: false, words: await runs() };
  const takesRuns = name === 'graph' && before.length === 1;
  return args === '' ? NOTHING : { files: true, words: takesRuns ? await runs() : [] };
}

const flagName = (form: string): string => form.split(' ')[0] ?? form;
