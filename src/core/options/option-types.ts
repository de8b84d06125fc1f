import type { ValueProblem } from '../../language/claude-values.ts';
import { DURATION_FORMS, DURATION_PATTERN, parseDurationMs } from '../../language/text/duration.ts';
import { microsToUsd, usdToMicros } from '../run/ledger.ts';
import { isTaskFolderPattern, TASK_FOLDER_PATTERNS } from '../run/work-folders.ts';

/** A value as people write it in config.toml or in a scenario; on the command line it is read from a word. */
export type WrittenValue = string | number | boolean | readonly string[];

/** The forms a value can be written in. In a run, an `amount` is kept in a smaller unit, so that it is whole like a `count`. */
export type ValueKind =
  | 'amount'
  | 'percent'
  | 'duration'
  | 'count'
  | 'boolean'
  | 'text'
  | 'choice'
  | 'texts'
  | 'variables';

/**
 * How the values of an option are written, checked and kept in a run. `parse` and `format` are methods so that types of
 * different values fit into one table.
 */
export interface OptionType<Kept> {
  readonly kind: ValueKind;
  /** The words to choose from, if there are only some. */
  readonly choices: readonly string[];
  /** The values that fit, for an error message: "must be …". */
  readonly expected: string;
  /** The values that fit, as JSON Schema. */
  readonly jsonSchema: object;
  /** The problem with a value, if the option takes values of Claude Code. */
  readonly findProblem?: (word: string) => ValueProblem | undefined;
  /** True if null is kept where there is no limit or nothing was chosen. */
  readonly nullable: boolean;
  /** The value to be kept; undefined if what is written does not fit. */
  parse(written: unknown, resolvePath?: (path: string) => string): Kept | undefined;
  /** The value as it is written; null if nothing was chosen. */
  format(kept: Kept): WrittenValue | null;
}

/** The values of an option that are in force in a project's config file only once the user has trusted that file. */
export interface TrustRule<Kept> {
  /** The effect of such a value, as a phrase without a subject: "runs this program as Claude Code". */
  readonly effect: string;
  /** True if a value runs programs or widens what agents may do. */
  isNeededFor(kept: Kept): boolean;
}

/** One option of a run: everything that is known about it, except what it does. */
export interface OptionRow<Kept> {
  /** Its key in config.toml and in scenarios. Its flag is the same with dashes, unless it has one of its own. */
  readonly key: string;
  /** The flag of a list, which names one entry and may be repeated. */
  readonly flag?: string;
  readonly type: OptionType<Kept>;
  readonly default: NoInfer<Kept>;
  /** The default in words, if the default is null because something else decides then. */
  readonly whenOmitted?: string;
  /** A value for the config template, if the default cannot be written down. */
  readonly example?: WrittenValue;
  /** Its purpose, as a phrase: for `--help`, the comment in config.toml and the description in its schema. */
  readonly help: string;
  /** The argument of its flag, such as `<usd>`; empty for a switch. An option without this has no flag. */
  readonly argument?: string;
  /** The help of its flag `--no-…`. A switch without this has no such flag. */
  readonly negation?: string;
  /**
   * False if it belongs to single runs and cannot stand under [raymond] in config.toml; `on` for a switch that is only switched on
   * there: no file takes back what another one wants.
   */
  readonly config?: false | 'on';
  /** Set if a stranger's config file could do harm with it: it runs programs or widens what agents may do. */
  readonly trust?: TrustRule<NoInfer<Kept>>;
  /** Set if scenarios may have it: written by their author only, or also by the recording of a run. */
  readonly scenario?: 'authored' | 'recorded';
}

/** Numbers that are written must be smaller than this; a larger one is a slip, and would not stay exact in other units. */
export const NUMBER_LIMIT = 1e9;

/** Dollars, kept as whole micro-dollars; 0 is written for no limit. */
export const DOLLARS = numberType<number | null>('amount', {
  nullable: true,
  parse: (usd) => (usd === 0 ? null : Math.max(1, usdToMicros(usd))),
  format: (micros) => microsToUsd(micros ?? 0),
});

/** A duration, kept in whole milliseconds and shown in seconds; 0 is written for never. */
export const DURATION: OptionType<number | null> = {
  kind: 'duration',
  choices: [],
  expected: DURATION_FORMS,
  jsonSchema: {
    type: ['number', 'string'],
    minimum: 0,
    exclusiveMaximum: NUMBER_LIMIT,
    pattern: DURATION_PATTERN,
  },
  nullable: true,
  parse(written) {
    if (typeof written === 'number' && written >= NUMBER_LIMIT) return undefined;
    const ms = typeof written === 'string' || typeof written === 'number' ? parseDurationMs(written) : undefined;
    return ms === undefined ? undefined : Math.min(ms, NUMBER_LIMIT * 1000);
  },
  format: (ms) => (ms === null ? null : ms / 1000),
};

/** A whole number that is a limit; 0 is written for no limit. */
export const LIMIT = numberType<number | null>('count', {
  nullable: true,
  parse: (limit) => limit || null,
  format: (limit) => limit ?? 0,
});

/** A whole number. */
export const COUNT = numberType<number>('count', { nullable: false, parse: (n) => n, format: (n) => n });

/** True or false. */
export const BOOLEAN: OptionType<boolean> = {
  kind: 'boolean',
  choices: [],
  expected: 'true or false',
  jsonSchema: { type: 'boolean' },
  nullable: false,
  parse: (written) => (typeof written === 'boolean' ? written : undefined),
  format: (kept) => kept,
};

/** True or false, or null if something else decides. */
export const OPTIONAL_BOOLEAN: OptionType<boolean | null> = {
  ...BOOLEAN,
  nullable: true,
  format: (kept) => kept,
};

/** One of the words that Claude Code knows. */
export const knownWord = (words: readonly string[], findProblem: WordCheck): OptionType<string> => ({
  ...textType<string>({ nullable: false, parse: (text) => (words.includes(text) ? text : undefined), findProblem }),
  choices: words,
  jsonSchema: { enum: words },
});

/** One of the words that Claude Code knows, in any letter case and kept in lower case, or null if none was chosen. */
export const optionalKnownWord = (words: readonly string[], findProblem: WordCheck): OptionType<string | null> => ({
  ...textType<string | null>({
    nullable: true,
    parse: (text) => words.find((word) => word === text.toLowerCase()),
    findProblem,
  }),
  choices: words,
  jsonSchema: { type: 'string', pattern: `^(?:${words.map(anyLetterCase).join('|')})$` },
});

const anyLetterCase = (word: string): string =>
  word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** A word of Claude Code, or null if none was chosen; kept as `normalize` spells it. An unknown one is for the run to refuse. */
export const optionalWord = (normalize: (text: string) => string, findProblem: WordCheck): OptionType<string | null> =>
  textType<string | null>({ nullable: true, parse: normalize, findProblem });

/** The path of a file, or null if none was chosen; kept as it is resolved where it is written. */
export const OPTIONAL_PATH = textType<string | null>({
  nullable: true,
  parse: (path, resolvePath) => resolvePath(path),
});

/** A text, or null if none was chosen. */
export const OPTIONAL_TEXT = textType<string | null>({ nullable: true, parse: (text) => text });

/** The pattern of task folders. */
export const TASK_FOLDERS: OptionType<string> = {
  ...textType<string>({
    nullable: false,
    expected: 'a path with {{workflow_id}} and {{agent_id}} in it',
    parse: (text) => (isTaskFolderPattern(text) ? text : undefined),
  }),
  jsonSchema: { type: 'string', pattern: TASK_FOLDER_PATTERNS },
};

/** The backend that answers prompts: Claude Code, or the canned answers of a file. */
export type BackendChoice = { readonly kind: 'claude' } | { readonly kind: 'replay'; readonly file: string };

/** Reads the value of `--agent`; undefined if there is no such backend. */
export function parseBackend(text: string): BackendChoice | undefined {
  const [, file] = /^replay:(.+)$/s.exec(text) ?? [];
  if (file !== undefined) return { kind: 'replay', file };
  return text === 'claude' ? { kind: 'claude' } : undefined;
}

/** True if prompts get canned answers, which nobody pays for. */
export const isReplay = ({ agent }: { readonly agent: string }): boolean => parseBackend(agent)?.kind === 'replay';

/** The value of `--agent`; the path of a file is kept absolute, because a resume may come from elsewhere. */
export const BACKEND = textType<string>({
  nullable: false,
  expected: 'claude or replay:FILE',
  parse(text, resolvePath) {
    const backend = parseBackend(text);
    return backend?.kind === 'replay' ? `replay:${resolvePath(backend.file)}` : backend?.kind;
  },
});

/** Texts by name. They are written as a table, or one by one: there is no single value for all of them. */
export const VARIABLES: OptionType<Readonly<Record<string, string>>> = {
  kind: 'variables',
  choices: [],
  expected: 'a table of texts',
  jsonSchema: { type: 'object', additionalProperties: { type: 'string' } },
  nullable: false,
  parse: () => undefined,
  format: () => null,
};

/** A list of texts. */
export const TEXTS: OptionType<readonly string[]> = {
  kind: 'texts',
  choices: [],
  expected: 'a list of texts',
  jsonSchema: { type: 'array', items: { type: 'string', pattern: '\\S' } },
  nullable: false,
  parse: (written) => (Array.isArray(written) && written.every(isNonBlank) ? written : undefined),
  format: (kept) => kept,
};

/** A list of paths, kept as they are resolved where they are written. */
export const PATHS: OptionType<readonly string[]> = {
  ...TEXTS,
  expected: 'a list of paths',
  parse: (written, resolvePath = (path) => path) =>
    Array.isArray(written) && written.every(isNonBlank) ? written.map((path) => resolvePath(path)) : undefined,
};

const isNonBlank = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** One of these words. */
export const choice = <Word extends string>(...words: readonly Word[]): OptionType<Word> => ({
  kind: 'choice',
  choices: words,
  expected: words.map((word) => JSON.stringify(word)).join(' or '),
  jsonSchema: { enum: words },
  nullable: false,
  parse: (written) => words.find((word) => word === written),
  format: (kept) => kept,
});

/** One of these words, or null if none was chosen. */
export const optionalChoice = <Word extends string>(...words: readonly Word[]): OptionType<Word | null> => ({
  ...choice(...words),
  nullable: true,
  parse: (written) => words.find((word) => word === written),
  format: (kept) => kept,
});

interface NumberCodec<Kept> {
  readonly nullable: boolean;
  readonly parse: (written: number) => Kept;
  readonly format: (kept: Kept) => number | null;
}

function numberType<Kept>(kind: 'amount' | 'count', codec: NumberCodec<Kept>): OptionType<Kept> {
  const isWhole = kind === 'count';
  const fits = (value: unknown): value is number =>
    typeof value === 'number' && value >= 0 && value < NUMBER_LIMIT && (!isWhole || Number.isInteger(value));
  return {
    kind,
    choices: [],
    expected: isWhole ? 'a whole number of at least 0' : 'a number of at least 0',
    jsonSchema: { type: isWhole ? 'integer' : 'number', minimum: 0, exclusiveMaximum: NUMBER_LIMIT },
    nullable: codec.nullable,
    parse: (written) => (fits(written) ? codec.parse(written) : undefined),
    format: codec.format,
  };
}

type WordCheck = (word: string) => ValueProblem | undefined;

interface TextCodec<Kept> {
  readonly nullable: boolean;
  readonly findProblem?: WordCheck;
  readonly expected?: string;
  readonly parse: (written: string, resolvePath: (path: string) => string) => Kept | undefined;
}

function textType<Kept extends string | null>(codec: TextCodec<Kept>): OptionType<Kept> {
  const { nullable, expected = 'a text', parse, findProblem } = codec;
  return {
    kind: 'text',
    choices: [],
    expected,
    jsonSchema: { type: 'string', pattern: '\\S' },
    nullable,
    ...(findProblem !== undefined && { findProblem }),
    parse: (written, resolvePath = (path) => path) => (isNonBlank(written) ? parse(written, resolvePath) : undefined),
    format: (kept) => kept,
  };
}

/** Why a written value does not fit, and what to write instead if that is a sentence of its own. */
export function explainMismatch(
  { expected, findProblem }: Pick<OptionType<unknown>, 'expected' | 'findProblem'>,
  { name, written, quoted }: { readonly name: string; readonly written: unknown; readonly quoted: string },
): { readonly message: string; readonly hint?: string } {
  const problem = isNonBlank(written) ? findProblem?.(written) : undefined;
  if (problem !== undefined) return { message: `${name}: ${problem.message}`, hint: problem.hint };
  const isTooLarge = typeof written === 'number' && written >= NUMBER_LIMIT;
  return { message: `${name} must be ${isTooLarge ? `less than ${NUMBER_LIMIT}` : expected}, not ${quoted}` };
}
