import { DEFAULT_CLAUDE_TIMEOUT_MS } from '../core/options/option-rows.ts';
import type { EntryPositions, WrittenSchema } from '../graph/workflow-source.ts';
import { normalizeEffort, normalizeModel } from '../language/claude-values.ts';
import type { Evaluator, Policy } from '../language/policy.ts';
import type { Preference } from '../language/position.ts';
import type { State, StateSettings } from '../language/state.ts';
import type { Platform } from '../language/state-names.ts';
import type { FindingReport } from '../yaml/finding-report.ts';
import type { YamlField } from '../yaml/value.ts';
import { readAllowedTransitions } from './allowed-transitions.ts';
import { EVALUATOR_SCHEMA, readEvaluators } from './evaluators.ts';
import { GUARD_KEYS, type GuardFrontmatter, NO_GUARD_FRONTMATTER } from './guard-keys.ts';
import { readWrittenSchema } from './result-schema.ts';
import { SANDBOX_VALUE } from './sandbox-keys.ts';
import {
  ALLOWED_TRANSITIONS_SCHEMA,
  allowNull,
  type FrontmatterValueSchema,
  SUGGESTED_VALUES,
} from './value-schemas.ts';
import {
  BACKEND_VALUE,
  BOOLEAN_VALUE,
  COUNT_RANGE,
  DURATION_VALUE,
  numberType,
  reportWrongType,
  TEXT_VALUE,
  type ValueType,
  WORD_LIST,
  wordType,
} from './value-types.ts';

/** The settings of a state's frontmatter; null where it does not say. */
export interface Frontmatter extends Preference, StateSettings, GuardFrontmatter {
  readonly description: string | null;
  readonly maxVisits: number | null;
  readonly policy: Policy;
  readonly forceImplicit: boolean;
  readonly repeatable: boolean;
  readonly sandbox: boolean;
  readonly writtenSchema: WrittenSchema | null;
  /** The position of each entry of the policy. */
  readonly entries: readonly EntryPositions[];
  readonly evaluators: readonly Evaluator[];
  /** The position of each evaluator. */
  readonly evaluatorPositions: readonly EntryPositions[];
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
  forceImplicit: false,
  repeatable: false,
  sandbox: false,
  ...NO_GUARD_FRONTMATTER,
  writtenSchema: null,
  entries: [],
  evaluators: [],
  evaluatorPositions: [],
};

/** One key of the frontmatter. */
export interface FrontmatterKey {
  readonly purpose: string;
  /** The kind of state for which it has a meaning; absent if for both. */
  readonly onlyFor?: State['kind'];
  /** The values that `read` takes without an error, for editors; no value at all is always allowed. */
  readonly schema: FrontmatterValueSchema;
  /** Reads the key's value, or reports what is wrong with it. */
  readonly read: (field: YamlField, report: FindingReport, platform: Platform) => Partial<Frontmatter>;
}

const FILE_NAME = wordType(['result.schema.json']);

/** The keys of the frontmatter. To add a key, add a row. */
export const FRONTMATTER_KEYS: Readonly<Record<string, FrontmatterKey>> = {
  allowed_transitions: {
    purpose: 'The transitions that this state permits. Without it, or with an empty list, all of them.',
    schema: ALLOWED_TRANSITIONS_SCHEMA,
    read: readAllowedTransitions,
  },
  model: defineKey(
    'The model in this state, unless the tag that leads here names another: opus, sonnet, haiku, or a full name.',
    wordType(SUGGESTED_VALUES.model),
    (model) => ({ model: normalizeModel(model) }),
    'prompt',
  ),
  effort: defineKey(
    'The effort in this state, unless the tag that leads here names another: low, medium, high, xhigh or max.',
    wordType(SUGGESTED_VALUES.effort),
    (effort) => ({ effort: normalizeEffort(effort) }),
    'prompt',
  ),
  timeout: defineKey(
    `How long a turn may be silent before it is ended, in seconds or as 90s, 10m, 2h; 0 for no limit. The default is ${DEFAULT_CLAUDE_TIMEOUT_MS / 1000} for a prompt and no limit for a script.`,
    DURATION_VALUE,
    (timeoutMs) => ({ timeoutMs }),
  ),
  max_visits: defineKey(
    'How often one agent may enter this state; after that, the agent stops.',
    numberType('a whole number of at least 1', COUNT_RANGE),
    (maxVisits) => ({ maxVisits }),
  ),
  repeatable: defineKey(
    'Whether a script that was killed midway is run again by itself. Without it, the run pauses and asks.',
    BOOLEAN_VALUE,
    (repeatable) => ({ repeatable }),
    'script',
  ),
  ...GUARD_KEYS,
  result_schema: {
    purpose:
      'What the text of a <result> must be: a JSON Schema, or the name of a file of the workflow that holds one.',
    schema: { ...FILE_NAME.schema, type: ['object', 'boolean', 'string'] },
    read: (field, report) => {
      const { value } = field;
      const isName = value.kind === 'text' && FILE_NAME.read(field, report) !== undefined;
      if (isName || value.kind === 'mapping' || value.kind === 'boolean')
        return { writtenSchema: readWrittenSchema(value, report) };
      if (value.kind !== 'text') reportWrongType(field, value, report, 'a JSON Schema or the name of its file');
      return {};
    },
  },
  backend: defineKey('The program that answers this prompt: claude.', BACKEND_VALUE, () => ({}), 'prompt'),
  sandbox: defineKey(
    'Runs the turns of this state in a sandbox: they change only their folders and reach only hosts that the user names.',
    SANDBOX_VALUE,
    (sandbox) => ({ sandbox }),
  ),
  permission_mode: defineKey(
    'The permission mode of Claude Code; what it would have to ask for is denied. The default is acceptEdits, in a sandbox bypassPermissions.',
    wordType(['acceptEdits', 'plan', 'dontAsk']),
    (permissionMode) => ({ permissionMode }),
    'prompt',
  ),
  allowed_tools: defineKey(
    'Tools that Claude Code may use here without asking.',
    WORD_LIST,
    (allowedTools) => ({
      allowedTools,
    }),
    'prompt',
  ),
  disallowed_tools: defineKey(
    'Tools that Claude Code may not use here.',
    WORD_LIST,
    (disallowedTools) => ({
      disallowedTools,
    }),
    'prompt',
  ),
  append_system_prompt: defineKey(
    'Text that is added to the system prompt.',
    TEXT_VALUE,
    (appendSystemPrompt) => ({
      appendSystemPrompt,
    }),
    'prompt',
  ),
  description: defineKey('A description of this state for readers. It is not sent.', TEXT_VALUE, (description) => ({
    description,
  })),
  evaluator: {
    purpose:
      'What has to confirm the transition of a valid answer before it is made, in order; the first that overrides it wins.',
    schema: EVALUATOR_SCHEMA,
    read: readEvaluators,
  },
  force_implicit: defineKey(
    'Whether the only transition of `allowed_transitions` is taken whatever the agent says.',
    BOOLEAN_VALUE,
    (forceImplicit) => ({ forceImplicit }),
    'prompt',
  ),
};

function defineKey<T>(
  purpose: string,
  { schema, read }: ValueType<T>,
  toFrontmatter: (value: T) => Partial<Frontmatter>,
  onlyFor?: State['kind'],
): FrontmatterKey {
  return {
    purpose,
    ...(onlyFor !== undefined && { onlyFor }),
    schema,
    read: (field, report) => {
      const value = read(field, report);
      return value === undefined ? {} : toFrontmatter(value);
    },
  };
}

/** Makes the JSON Schema of frontmatter, for editors: it allows what the loader takes without a finding. */
export function frontmatterSchema(): object {
  const keys = Object.entries(FRONTMATTER_KEYS).filter(([, { onlyFor }]) => onlyFor !== 'script');
  const properties = keys.map(([name, { purpose, schema }]) => {
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
