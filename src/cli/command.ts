import { EXIT, RaymondError } from '../errors.ts';
import type { Terminal } from '../render/terminal/terminal.ts';

/** The options of a command as they were written, with their names in camel case. */
export type ParsedOptions = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Carries out a command and returns its exit code. `args` are the words that are not options. */
export type CommandHandler = (args: readonly string[], options: ParsedOptions, terminal: Terminal) => Promise<number>;

/** A flag of a command: its form, such as `--budget <usd>`, its help, and whether it may be given several times. */
export type FlagSpec = readonly [form: string, help: string, repeatable?: 'repeatable' | undefined];

/** The flag of commands that can print JSON. */
export const JSON_FLAG: FlagSpec = ['--json', 'print JSON'];

/** The flag that every command has. */
export const FOLDER_FLAG: FlagSpec = ['-C <folder>', 'work as if started in this folder', 'repeatable'];

/** An exit code and its meaning. */
export type ExitCodeMeaning = readonly [code: number, meaning: string];

/** One command of the program. Its code is loaded only when it is called. */
export interface CommandSpec {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** The names that other programs use: they are answered with the right one. */
  readonly alsoCalled?: readonly string[];
  /** Its arguments, such as `[RUN]`. */
  readonly args?: string;
  readonly summary: string;
  readonly flags: readonly FlagSpec[];
  readonly examples: readonly string[];
  /** Exit codes with a meaning of their own; without them there are only 0, 64 and 70. */
  readonly exits?: readonly ExitCodeMeaning[];
  /** Set if it also works where `.raymond` belongs to another user. */
  readonly anyOwner?: true;
  readonly load: () => Promise<CommandHandler>;
}

/** The hint of a usage error that has no better one; the program replaces it by the help of the command. */
export const SEE_HELP_HINT = 'See raymond --help.';

/** Creates the error for a command line that is wrong. */
export const usageError = (message: string, hint = SEE_HELP_HINT): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint });

/** The command that starts this very Raymond, and its first arguments. */
export const thisCommand = (): readonly [string, ...string[]] => [
  process.execPath,
  ...process.execArgv,
  process.argv[1] ?? '',
];
