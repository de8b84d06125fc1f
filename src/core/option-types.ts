import { microsToUsd, usdToMicros } from './ledger.ts';

/** A value as people write it in config.toml or in a scenario; on the command line it is read from a word. */
export type WrittenValue = string | number | boolean | readonly string[];

/** The forms a value can be written in. In a run, an `amount` is kept in a smaller unit, so that it is whole like a `count`. */
export type ValueKind = 'amount' | 'count' | 'boolean' | 'text' | 'choice' | 'texts' | 'variables';

/**
 * How the values of an option are written, checked and kept in a run. `parse` and `format` are methods so that types of
 * different values fit into one table.
 */
export interface OptionType<Kept> {
  readonly kind: ValueKind;
  /** The words to choose from, if it is a choice. */
  readonly choices: readonly string[];
  /** The values that fit, for an error message: "must be …". */
  readonly expected: string;
  /** The values that fit, as JSON Schema. */
  readonly jsonSchema: object;
  /** True if null is kept where there is no limit or nothing was chosen. */
  readonly nullable: boolean;
  /** The value to be kept; undefined if what is written does not fit. */
  parse(written: unknown, resolvePath?: (path: string) => string): Kept | undefined;
  /** The value as it is written; null if nothing was chosen. */
  format(kept: Kept): WrittenValue | null;
}

/** Numbers that are written must be smaller than this; a larger one is a slip, and would not stay exact in other units. */
export const NUMBER_LIMIT = 1e9;

/** Dollars, kept as whole micro-dollars; 0 is written for no limit. */
export const DOLLARS = numberType<number | null>('amount', {
  nullable: true,
  parse: (usd) => (usd === 0 ? null : Math.max(1, usdToMicros(usd))),
  format: (micros) => microsToUsd(micros ?? 0),
});

/** Seconds, kept as whole milliseconds; however short a time is, it does not become 0, which is written for never. */
export const SECONDS = numberType<number | null>('amount', {
  nullable: true,
  parse: (seconds) => (seconds === 0 ? 0 : Math.max(1, Math.round(seconds * 1000))),
  format: (ms) => (ms === null ? null : ms / 1000),
});

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

/** A text that is always there. */
export const TEXT = textType<string>({ nullable: false, parse: (text) => text });

/** A text, or null if none was chosen; kept as `normalize` spells it. */
export const optionalText = (normalize = (text: string): string => text): OptionType<string | null> =>
  textType<string | null>({ nullable: true, parse: normalize });

/** The backend that answers prompts: Claude Code, or the canned answers of a file. */
export type BackendChoice = { readonly kind: 'claude' } | { readonly kind: 'replay'; readonly file: string };

/** Reads the value of `--agent`; undefined if there is no such backend. */
export function parseBackend(text: string): BackendChoice | undefined {
  const [, file] = /^replay:(.+)$/s.exec(text) ?? [];
  if (file !== undefined) return { kind: 'replay', file };
  return text === 'claude' ? { kind: 'claude' } : undefined;
}

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

interface TextCodec<Kept> {
  readonly nullable: boolean;
  readonly expected?: string;
  readonly parse: (written: string, resolvePath: (path: string) => string) => Kept | undefined;
}

function textType<Kept extends string | null>({ nullable, expected, parse }: TextCodec<Kept>): OptionType<Kept> {
  return {
    kind: 'text',
    choices: [],
    expected: expected ?? 'a text',
    jsonSchema: { type: 'string', pattern: '\\S' },
    nullable,
    parse: (written, resolvePath = (path) => path) =>
      typeof written === 'string' && written.trim() !== '' ? parse(written, resolvePath) : undefined,
    format: (kept) => kept,
  };
}

/** The values that fit, for an error about one that does not: "must be …". */
export const describeMismatch = ({ expected }: Pick<OptionType<unknown>, 'expected'>, written: unknown): string =>
  typeof written === 'number' && written >= NUMBER_LIMIT ? `less than ${NUMBER_LIMIT}` : expected;
