import { WAIT_PATTERN } from '../language/tags/join-terms.ts';
import { BUILT_IN_ATTRIBUTES, type BuiltInAttribute } from '../language/tags/tag.ts';
import { DURATION_PATTERN } from '../language/text/duration.ts';
import { TAG_NAMES, type TagName, TRANSITIONS } from '../language/transitions/index.ts';
import { VARIABLE_NAME_SCHEMA } from '../language/variable-names.ts';

/** A JSON Schema (draft 7) for one value. A keyword applies only to values of its own type. */
export interface FrontmatterValueSchema {
  readonly type: readonly string[];
  readonly [keyword: string]: unknown;
}

/** The schema of a text that can be an argument of a command. */
export const ARGUMENT_TEXT_SCHEMA: FrontmatterValueSchema = {
  type: ['string'],
  not: { type: 'string', pattern: '\\u0000' },
};

/** The schema of a text that is not blank. */
export const NONBLANK_TEXT_SCHEMA: FrontmatterValueSchema = { ...ARGUMENT_TEXT_SCHEMA, pattern: '\\S' };

/** The schema of one such text, or a list of them. */
export const NONBLANK_TEXT_LIST_SCHEMA: FrontmatterValueSchema = {
  ...NONBLANK_TEXT_SCHEMA,
  type: ['string', 'array'],
  items: NONBLANK_TEXT_SCHEMA,
};

/** The schema of a single value, which is read as it is written. */
const FRONTMATTER_SCALAR_SCHEMA: FrontmatterValueSchema = {
  ...ARGUMENT_TEXT_SCHEMA,
  type: ['string', 'number', 'boolean'],
};

/** Extends a schema so that the value may be left empty, which means that it is not given. */
export const allowNull = (schema: FrontmatterValueSchema): FrontmatterValueSchema => ({
  ...schema,
  type: [...schema.type, 'null'],
});

/** Models and efforts that an editor suggests; others are allowed, too. */
export const SUGGESTED_VALUES = {
  model: ['opus', 'sonnet', 'haiku'],
  effort: ['low', 'medium', 'high', 'xhigh', 'max'],
} as const;

const TAG_DESCRIPTIONS: Readonly<Record<TagName, string>> = {
  goto: 'Continue in another state, in the same session.',
  reset: 'Continue in another state, in a new session.',
  compact: 'Continue in another state, in the same session, after Claude Code has summarized it.',
  call: 'Run a state in a branch of this session, then continue in `return` with its result.',
  function: 'Run a state in a session of its own, then continue in `return` with its result.',
  fork: 'Start a worker in another state, and continue in `next`.',
  'fork-each': 'Start a worker for each item of a file, and continue in `next`.',
  join: 'Continue in another state, in the same session, once the workers are done.',
  ask: 'Ask a person, and continue in `next` with the answer.',
  result: 'Return a result to the caller, or end.',
  'call-workflow': 'Run another workflow in a branch of this session, then continue in `return` with its result.',
  'function-workflow': 'Run another workflow in a session of its own, then continue in `return` with its result.',
  'fork-workflow': 'Start a worker in another workflow, and continue in `next`.',
  'reset-workflow': 'Continue in another workflow, in a new session, for good.',
};

/** The schema of the name of a state. */
export const STATE_NAME_SCHEMA: FrontmatterValueSchema = { ...FRONTMATTER_SCALAR_SCHEMA, pattern: '\\S' };
const NONEMPTY_SCALAR_SCHEMA: FrontmatterValueSchema = { ...FRONTMATTER_SCALAR_SCHEMA, minLength: 1 };

const ATTRIBUTE_SCHEMAS: Readonly<Record<BuiltInAttribute, FrontmatterValueSchema>> = {
  return: withDescription('The state to continue in with the result.', STATE_NAME_SCHEMA),
  next: withDescription('The state to continue in after the fork, or with the answer.', STATE_NAME_SCHEMA),
  choices: withDescription('The labels to choose from, separated by |.', FRONTMATTER_SCALAR_SCHEMA),
  choices_other: withDescription('Whether any other text is an answer, too.', FRONTMATTER_SCALAR_SCHEMA),
  choices_many: withDescription('Whether several labels may be chosen.', FRONTMATTER_SCALAR_SCHEMA),
  display_files: withDescription('Files of the task folder to show.', FRONTMATTER_SCALAR_SCHEMA),
  upload_slots: withDescription('Files to ask for, by name.', FRONTMATTER_SCALAR_SCHEMA),
  upload_bucket: withDescription('Whether any files may be handed over.', FRONTMATTER_SCALAR_SCHEMA),
  upload_max_count: withDescription('The most files.', FRONTMATTER_SCALAR_SCHEMA),
  upload_max_size: withDescription('The largest file.', FRONTMATTER_SCALAR_SCHEMA),
  upload_max_total_size: withDescription('The most for all files.', FRONTMATTER_SCALAR_SCHEMA),
  upload_mime: withDescription('The kinds of files.', FRONTMATTER_SCALAR_SCHEMA),
  cd: withDescription('The working directory.', FRONTMATTER_SCALAR_SCHEMA),
  stack: withDescription('Whether waiting callers are kept.', { type: ['string'], enum: ['keep', 'clear', null] }),
  input: withDescription(
    'The value of {{result}} in the state, unless the tag has one; a template.',
    FRONTMATTER_SCALAR_SCHEMA,
  ),
  'input-file': withDescription('A file with that value.', FRONTMATTER_SCALAR_SCHEMA),
  model: withDescription('The model.', { ...NONEMPTY_SCALAR_SCHEMA, examples: SUGGESTED_VALUES.model }),
  effort: withDescription('The effort.', { ...NONEMPTY_SCALAR_SCHEMA, examples: SUGGESTED_VALUES.effort }),
  wait: withDescription('How many workers to wait for: all, any, or a number.', {
    type: ['string', 'integer'],
    pattern: WAIT_PATTERN,
    minimum: 1,
    maximum: 999_999_999,
    examples: ['all', 'any'],
  }),
  timeout: withDescription('How long to wait.', {
    type: ['string', 'number'],
    pattern: DURATION_PATTERN,
    minimum: 0,
    exclusiveMaximum: 1_000_000_000,
  }),
  timeout_next: withDescription('The state to continue in when that time is over.', STATE_NAME_SCHEMA),
  cancel: withDescription('Whether workers that are not waited for any more are ended.', {
    type: ['string', 'boolean'],
    enum: ['true', 'false', true, false, null],
  }),
  group: withDescription('Only workers whose variable `group` has this value.', FRONTMATTER_SCALAR_SCHEMA),
  in: withDescription('The file with the items.', NONEMPTY_SCALAR_SCHEMA),
  as: withDescription('The name of the variable that has the item.', {
    ...NONEMPTY_SCALAR_SCHEMA,
    not: { type: 'string', ...VARIABLE_NAME_SCHEMA.not },
  }),
};

/** The schema of `allowed_transitions`: what `readAllowedTransitions` takes, with built-in words in lower case only. */
export const ALLOWED_TRANSITIONS_SCHEMA: FrontmatterValueSchema = {
  type: ['array'],
  items: { type: 'object', anyOf: TAG_NAMES.map(buildEntrySchema) },
};

function buildEntrySchema(tag: TagName): object {
  const { body, attributes, variables } = TRANSITIONS[tag];
  const accepted: readonly BuiltInAttribute[] = attributes;
  const others = BUILT_IN_ATTRIBUTES.filter((name) => !accepted.includes(name));
  return {
    title: tag,
    required: ['tag'],
    properties: {
      tag: { description: TAG_DESCRIPTIONS[tag], const: tag },
      target:
        body === 'text' ? { type: 'null' } : withDescription('The state. Any, if it is left out.', STATE_NAME_SCHEMA),
      ...(body === 'text' && {
        payload: withDescription('The exact text. Any, if it is left out.', FRONTMATTER_SCALAR_SCHEMA),
      }),
      ...Object.fromEntries(accepted.map((name) => [name, ATTRIBUTE_SCHEMAS[name]])),
    },
    ...(variables && { propertyNames: { allOf: [{ not: { enum: others } }, VARIABLE_NAME_SCHEMA] } }),
    additionalProperties: variables && withDescription('A variable of the worker.', FRONTMATTER_SCALAR_SCHEMA),
  };
}

function withDescription(description: string, schema: FrontmatterValueSchema): FrontmatterValueSchema {
  return { description, ...allowNull(schema) };
}
