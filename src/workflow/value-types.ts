import { DURATION_FORMS, DURATION_PATTERN, MAX_TIMER_MS, parseDurationMs } from '../language/text/duration.ts';
import { type FindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import {
  describeYamlValue,
  readYamlFields,
  readYamlScalarText,
  type YamlField,
  type YamlValue,
} from '../yaml/value.ts';
import {
  ARGUMENT_TEXT_SCHEMA,
  type FrontmatterValueSchema,
  NONBLANK_TEXT_LIST_SCHEMA,
  NONBLANK_TEXT_SCHEMA,
} from './value-schemas.ts';

/** A type of values: as JSON Schema, and how one is read; undefined after an error was reported. */
export interface ValueType<T> {
  readonly schema: FrontmatterValueSchema;
  readonly read: (field: YamlField, report: FindingReport) => T | undefined;
}

const MAX_SECONDS = (MAX_TIMER_MS + 1) / 1000;

/** The words of YAML 1.1 for true and false, and those of YAML 1.2 in quotes. */
const TRUE_WORDS = '[Tt]rue|TRUE|[Yy]es|YES|[Oo]n|ON|[Yy]';
const FALSE_WORDS = '[Ff]alse|FALSE|[Nn]o|NO|[Oo]ff|OFF|[Nn]';
const TRUE = new RegExp(`^(?:${TRUE_WORDS})$`);
const FALSE = new RegExp(`^(?:${FALSE_WORDS})$`);

function readBoolean(value: YamlValue): boolean | undefined {
  if (value.kind === 'boolean') return value.boolean;
  if (value.kind !== 'text') return undefined;
  return TRUE.test(value.text) ? true : FALSE.test(value.text) ? false : undefined;
}

/** True or false. */
export const BOOLEAN_VALUE: ValueType<boolean> = {
  schema: { type: ['boolean', 'string'], pattern: `^(?:${TRUE_WORDS}|${FALSE_WORDS})$` },
  read: (field, report) => readBoolean(field.value) ?? reportWrongType(field, field.value, report, 'true or false'),
};

/** True, false, or `auto` for what the rest of the workflow says. */
export const BOOLEAN_OR_AUTO_VALUE: ValueType<boolean | 'auto'> = {
  schema: { type: ['boolean', 'string'], pattern: `^(?:auto|${TRUE_WORDS}|${FALSE_WORDS})$` },
  read: (field, report) => {
    const { value } = field;
    if (value.kind === 'text' && value.text === 'auto') return 'auto';
    return readBoolean(value) ?? reportWrongType(field, value, report, 'true, false or auto');
  },
};

/** A text. */
export const TEXT_VALUE: ValueType<string> = {
  schema: ARGUMENT_TEXT_SCHEMA,
  read: (field, report) => readText(field, field.value, report, 'a text'),
};

/** A text that is not blank, or a list of them. */
export const WORD_LIST: ValueType<readonly string[]> = {
  schema: NONBLANK_TEXT_LIST_SCHEMA,
  read: (field, report) => {
    const items = field.value.kind === 'list' ? field.value.items : [field.value];
    return items.flatMap((item) => readWord(field, item, report, 'a text or a list of texts') ?? []);
  },
};

/** A text that is not blank. */
export const wordType = (examples: readonly string[]): ValueType<string> => ({
  schema: { ...NONBLANK_TEXT_SCHEMA, examples },
  read: (field, report) => readWord(field, field.value, report, 'a text'),
});

interface NumberRange {
  readonly isWhole: boolean;
  readonly minimum: number;
  readonly exclusiveMaximum: number;
}

/** A number in a range. */
export const numberType = (expected: string, { isWhole, ...range }: NumberRange): ValueType<number> => ({
  schema: { type: [isWhole ? 'integer' : 'number'], ...range },
  read: (field, report) => {
    const n = field.value.kind === 'number' ? field.value.number : Number.NaN;
    const isAllowed = n >= range.minimum && n < range.exclusiveMaximum && (!isWhole || Number.isInteger(n));
    return isAllowed ? n : reportWrongType(field, field.value, report, expected);
  },
});

/** A duration in milliseconds. */
export const DURATION_VALUE: ValueType<number> = {
  schema: { type: ['number', 'string'], minimum: 0, exclusiveMaximum: MAX_SECONDS, pattern: DURATION_PATTERN },
  read: (field, report) => {
    const { value } = field;
    const written = value.kind === 'text' ? value.text : value.kind === 'number' ? value.number : Number.NaN;
    // A long time with its unit is meant; a number that large is a slip.
    const isSlip = typeof written === 'number' && written >= MAX_SECONDS;
    const ms = isSlip ? undefined : parseDurationMs(written);
    if (ms !== undefined) return Math.min(ms, MAX_TIMER_MS);
    return reportWrongType(field, value, report, `${DURATION_FORMS} (0 for no limit)`);
  },
};

/** The range of a number of times. */
export const COUNT_RANGE: NumberRange = { isWhole: true, minimum: 1, exclusiveMaximum: 2 ** 53 };

function readWord(field: YamlField, value: YamlValue, report: FindingReport, expected: string): string | undefined {
  const word = readText(field, value, report, expected)?.trim();
  if (word === '') report.error(value.at, `\`${field.name}\` is empty: give it a value or remove it`);
  return word === '' ? undefined : word;
}

function readText(field: YamlField, value: YamlValue, report: FindingReport, expected: string): string | undefined {
  if (value.kind !== 'text') {
    const isScalar = value.kind === 'number' || value.kind === 'boolean';
    return reportWrongType(field, value, report, expected, isScalar ? '; put it in quotes if it is meant as text' : '');
  }
  // It becomes an argument of a command, which cannot contain one.
  if (!value.text.includes('\0')) return value.text;
  report.error(value.at, `\`${field.name}\` contains a NUL character: remove it`);
  return undefined;
}

/** Reports a value of another type than the one that is expected. */
export function reportWrongType(
  { name }: YamlField,
  value: YamlValue,
  report: FindingReport,
  expected: string,
  advice = '',
): undefined {
  report.error(value.at, `\`${name}\` must be ${expected}, not ${describeYamlValue(value)}${advice}`);
}

/** The backends that a workflow may name: nothing, or this one in any letter case. */
const KNOWN_BACKEND = '^\\s*([Cc][Ll][Aa][Uu][Dd][Ee])?\\s*$';

/** The name of a backend, or a mapping with its `name`. A turn on another backend than the author chose would cost money, so an unknown one is an error. */
export const BACKEND_VALUE: ValueType<string> = {
  schema: {
    type: ['string', 'object'],
    pattern: KNOWN_BACKEND,
    properties: { name: { type: ['string', 'null'], pattern: KNOWN_BACKEND } },
    required: ['name'],
    additionalProperties: false,
  },
  read: (field, report) => {
    const value = findName(field, report);
    const name = value.kind === 'nothing' ? '' : readYamlScalarText(value);
    if (name === undefined) return reportWrongType(field, value, report, 'the name of a backend');
    if (new RegExp(KNOWN_BACKEND).test(name)) return undefined;
    const message = `Raymond has no backend ${quoteInMessage(name)}, only \`claude\`: remove the key to run on Claude Code`;
    report.error(value.at, `\`${field.name}\`: ${message}`);
    return undefined;
  },
};

/** The value that names the backend; the whole value if there is no such name. */
function findName({ value }: YamlField, report: FindingReport): YamlValue {
  if (value.kind !== 'mapping') return value;
  const fields = readYamlFields(value, report);
  for (const { name, at } of fields.values())
    if (name !== 'name') report.warning(at, `the key ${quoteInMessage(name)} is unknown and has no effect`);
  return fields.get('name')?.value ?? value;
}
