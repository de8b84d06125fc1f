import { DEFAULT_CLAUDE_TIMEOUT_MS } from '../core/options.ts';
import type { Policy } from '../core/policy.ts';
import type { Preference } from '../core/position.ts';
import { normalizeEffort, normalizeModel } from '../core/preference.ts';
import type { StateSettings } from '../core/state.ts';
import type { Platform } from '../core/state-names.ts';
import type { EntryPositions } from '../graph/workflow-source.ts';
import type { FindingReport } from '../yaml/finding-report.ts';
import { describeYamlValue, type YamlField, type YamlValue } from '../yaml/value.ts';
import { readAllowedTransitions } from './allowed-transitions.ts';
import {
  ALLOWED_TRANSITIONS_SCHEMA,
  ARGUMENT_TEXT_SCHEMA,
  allowNull,
  type FrontmatterValueSchema,
  NONBLANK_TEXT_LIST_SCHEMA,
  NONBLANK_TEXT_SCHEMA,
  SUGGESTED_VALUES,
} from './value-schemas.ts';

/** The settings of a prompt's frontmatter; null where it does not say. */
export interface Frontmatter extends Preference, StateSettings {
  readonly description: string | null;
  readonly maxVisits: number | null;
  readonly policy: Policy;
  /** The position of each entry of the policy. */
  readonly entries: readonly EntryPositions[];
}

/** The settings of a file without frontmatter. */
export const EMPTY_FRONTMATTER: Frontmatter = {
  model: null,
  effort: null,
  timeoutMs: null,
  permissionMode: null,
  allowedTools: null,
  disallowedTools: null,
  appendSystemPrompt: null,
  description: null,
  maxVisits: null,
  policy: [],
  entries: [],
};

const TIMEOUT_SCHEMA: FrontmatterValueSchema = { type: ['number'], minimum: 0, exclusiveMaximum: 2 ** 31 / 1000 };
const COUNT_SCHEMA: FrontmatterValueSchema = { type: ['integer'], minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

/** One key of the frontmatter. */
export interface FrontmatterKey {
  readonly purpose: string;
  /** The values that `read` takes without an error, for editors; no value at all is always allowed. */
  readonly schema: FrontmatterValueSchema;
  /** Reads the key's value, or reports what is wrong with it. */
  readonly read: (field: YamlField, report: FindingReport, platform: Platform) => Partial<Frontmatter>;
}

/** The keys of the frontmatter. To add a key, add a row. */
export const FRONTMATTER_KEYS: Readonly<Record<string, FrontmatterKey>> = {
  allowed_transitions: {
    purpose: 'The transitions that this state permits. Without it, or with an empty list, all of them.',
    schema: ALLOWED_TRANSITIONS_SCHEMA,
    read: readAllowedTransitions,
  },
  model: wordKey(
    'The model in this state, unless the tag that leads here names another: opus, sonnet, haiku, or a full name.',
    SUGGESTED_VALUES.model,
    (model) => ({ model: normalizeModel(model) }),
  ),
  effort: wordKey(
    'The effort in this state, unless the tag that leads here names another: low, medium, high, xhigh or max.',
    SUGGESTED_VALUES.effort,
    (effort) => ({ effort: normalizeEffort(effort) }),
  ),
  timeout: numberKey(
    `Seconds that a turn may be silent before it is ended; 0 for no limit. The default is ${DEFAULT_CLAUDE_TIMEOUT_MS / 1000}.`,
    { isAllowed: isValidTimeout, expected: 'a number of seconds from 0 (no limit) to 2147483', schema: TIMEOUT_SCHEMA },
    (timeout) => ({ timeoutMs: timeout === 0 ? 0 : Math.max(1, Math.round(timeout * 1000)) }),
  ),
  max_visits: numberKey(
    'How often one agent may enter this state; after that, the agent stops.',
    { isAllowed: isValidCount, expected: 'a whole number of at least 1', schema: COUNT_SCHEMA },
    (maxVisits) => ({ maxVisits }),
  ),
  permission_mode: wordKey(
    'The permission mode of Claude Code; what it would have to ask for is denied. The default is acceptEdits.',
    ['acceptEdits', 'plan', 'dontAsk'],
    (permissionMode) => ({ permissionMode }),
  ),
  allowed_tools: wordListKey('Tools that Claude Code may use here without asking.', (allowedTools) => ({
    allowedTools,
  })),
  disallowed_tools: wordListKey('Tools that Claude Code may not use here.', (disallowedTools) => ({ disallowedTools })),
  append_system_prompt: textKey('Text that is added to the system prompt.', (appendSystemPrompt) => ({
    appendSystemPrompt,
  })),
  description: textKey('A description of this state for readers. It is not sent.', (description) => ({
    description,
  })),
  evaluator: unsupportedKey(textKey('Not supported yet: it has no effect.', () => ({}))),
  force_implicit: unsupportedKey({
    purpose: 'Not supported yet: it has no effect.',
    schema: { type: ['boolean'] },
    read: (field, report) => {
      if (field.value.kind !== 'boolean') reportWrongType(field, field.value, report, 'true or false');
      return {};
    },
  }),
};

function isValidTimeout(seconds: number): boolean {
  // A longer one does not fit into a timer, which would then fire at once.
  return seconds >= 0 && seconds * 1000 < 2 ** 31;
}

function isValidCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 1;
}

/** The numbers that a key takes: as a check, in words, and as JSON Schema. */
interface NumberRange {
  readonly isAllowed: (n: number) => boolean;
  readonly expected: string;
  readonly schema: FrontmatterValueSchema;
}

function numberKey(
  purpose: string,
  { isAllowed, expected, schema }: NumberRange,
  toFrontmatter: (n: number) => Partial<Frontmatter>,
): FrontmatterKey {
  return {
    purpose,
    schema,
    read: (field, report) => {
      if (field.value.kind === 'number' && isAllowed(field.value.number)) return toFrontmatter(field.value.number);
      reportWrongType(field, field.value, report, expected);
      return {};
    },
  };
}

function textKey(purpose: string, toFrontmatter: (written: string) => Partial<Frontmatter>): FrontmatterKey {
  return {
    purpose,
    schema: ARGUMENT_TEXT_SCHEMA,
    read: (field, report) => {
      const text = readText(field, field.value, report, 'a text');
      return text === undefined ? {} : toFrontmatter(text);
    },
  };
}

function wordKey(
  purpose: string,
  examples: readonly string[],
  toFrontmatter: (written: string) => Partial<Frontmatter>,
): FrontmatterKey {
  return {
    purpose,
    schema: { ...NONBLANK_TEXT_SCHEMA, examples },
    read: (field, report) => {
      const word = readWord(field, field.value, report, 'a text');
      return word === undefined ? {} : toFrontmatter(word);
    },
  };
}

function wordListKey(
  purpose: string,
  toFrontmatter: (written: readonly string[]) => Partial<Frontmatter>,
): FrontmatterKey {
  return {
    purpose,
    schema: NONBLANK_TEXT_LIST_SCHEMA,
    read: (field, report) => {
      const items = field.value.kind === 'list' ? field.value.items : [field.value];
      return toFrontmatter(items.flatMap((item) => readWord(field, item, report, 'a text or a list of texts') ?? []));
    },
  };
}

function unsupportedKey(key: FrontmatterKey): FrontmatterKey {
  return {
    ...key,
    read: (field, report, platform) => {
      report.warning(field.at, `\`${field.name}\` is not supported yet and has no effect`);
      return key.read(field, report, platform);
    },
  };
}

function readWord(field: YamlField, value: YamlValue, report: FindingReport, expected: string): string | undefined {
  const word = readText(field, value, report, expected)?.trim();
  if (word === '') report.error(value.at, `\`${field.name}\` is empty: give it a value or remove it`);
  return word === '' ? undefined : word;
}

function readText(field: YamlField, value: YamlValue, report: FindingReport, expected: string): string | undefined {
  if (value.kind !== 'text') {
    const isScalar = value.kind === 'number' || value.kind === 'boolean';
    reportWrongType(field, value, report, expected, isScalar ? '; put it in quotes if it is meant as text' : '');
    return undefined;
  }
  // It becomes an argument of a command, which cannot contain one.
  if (!value.text.includes('\0')) return value.text;
  report.error(value.at, `\`${field.name}\` contains a NUL character: remove it`);
  return undefined;
}

function reportWrongType(
  field: YamlField,
  value: YamlValue,
  report: FindingReport,
  expected: string,
  advice = '',
): void {
  report.error(value.at, `\`${field.name}\` must be ${expected}, not ${describeYamlValue(value)}${advice}`);
}

/** Makes the JSON Schema of frontmatter, for editors: it allows what the loader takes without a finding. */
export function frontmatterSchema(): object {
  const properties = Object.entries(FRONTMATTER_KEYS).map(([name, { purpose, schema }]) => {
    return [name, { description: purpose, ...allowNull(schema) }] as const;
  });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Raymond: the frontmatter of a prompt',
    type: ['object', 'null'],
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}
