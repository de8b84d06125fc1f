import type { Terminal } from '../terminal/terminal.ts';

/** What the user asked for: the options of the command as they were written, named in camel case. */
export type ParsedOptions = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Carries a command out. `args` are the words that are no options. */
export type CommandHandler = (args: readonly string[], options: ParsedOptions, terminal: Terminal) => Promise<number>;

/** An option as it is written in the help, what it is for, and whether all that is given of it counts. */
export type FlagSpec = readonly [form: string, purpose: string, repeatable?: 'repeatable' | undefined];

/** An exit code, and what it says. */
export type ExitCodeMeaning = readonly [code: number, meaning: string];

/** One command of the program. Its code is loaded only when it is called. */
export interface CommandSpec {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** The words that follow it, such as `[RUN]`. */
  readonly args?: string;
  readonly summary: string;
  readonly flags: readonly FlagSpec[];
  readonly examples: readonly string[];
  /** Those that say something about what it was to do; without them there are only 0, 64 and 70. */
  readonly exits?: readonly ExitCodeMeaning[];
  readonly load: () => Promise<CommandHandler>;
}
