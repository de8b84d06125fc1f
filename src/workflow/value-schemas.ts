import { BUILT_IN_ATTRIBUTES, type BuiltInAttribute } from '../core/tag.ts';
import { TAG_NAMES, type TagName, TRANSITIONS } from '../core/transitions/index.ts';
import { VARIABLE_NAME_SCHEMA } from '../core/variables.ts';

/** What a value may be, in the words of JSON Schema (draft 7). A keyword binds only values of the type it speaks of. */
export interface FrontmatterValueSchema {
  readonly type: readonly string[];
  readonly [keyword: string]: unknown;
}

/** A text that can be an argument of a command. */
export const ARGUMENT_TEXT_SCHEMA: FrontmatterValueSchema = {
  type: ['string'],
  not: { type: 'string', pattern: '\\u0000' },
};

/** A text with something in it. */
export const NONBLANK_TEXT_SCHEMA: FrontmatterValueSchema = { ...ARGUMENT_TEXT_SCHEMA, pattern: '\\S' };

/** One such text, or a list of them. */
export const NONBLANK_TEXT_LIST_SCHEMA: FrontmatterValueSchema = {
  ...NONBLANK_TEXT_SCHEMA,
  type: ['string', 'array'],
  items: NONBLANK_TEXT_SCHEMA,
};

/** A single value, which is taken as it is written. */
const FRONTMATTER_SCALAR_SCHEMA: FrontmatterValueSchema = {
  ...ARGUMENT_TEXT_SCHEMA,
  type: ['string', 'number', 'boolean'],
};

/** The same shape for where nothing may be written, too: what is left empty is not given. */
export const allowNull = (schema: FrontmatterValueSchema): FrontmatterValueSchema => ({
  ...schema,
  type: [...schema.type, 'null'],
});

/** Models and efforts that an editor offers; others are taken, too. */
export const SUGGESTED_VALUES = {
  model: ['opus', 'sonnet', 'haiku'],
  effort: ['low', 'medium', 'high', 'xhigh', 'max'],
} as const;

const TAG_DESCRIPTIONS: Readonly<Record<TagName, string>> = {
  goto: 'Go on in another state, in the same session.',
  reset: 'Go on in another state, in a new session.',
  call: 'Let a state work in a branch of this session, then go on in `return` with its result.',
  function: 'Let a state work in a session of its own, then go on in `return` with its result.',
  fork: 'Start a worker in another state, and go on in `next`.',
  result: 'Hand a result to whoever called, or end.',
};

const STATE_NAME_SCHEMA: FrontmatterValueSchema = { ...FRONTMATTER_SCALAR_SCHEMA, pattern: '\\S' };
const NONEMPTY_SCALAR_SCHEMA: FrontmatterValueSchema = { ...FRONTMATTER_SCALAR_SCHEMA, minLength: 1 };

const ATTRIBUTE_SCHEMAS: Readonly<Record<BuiltInAttribute, FrontmatterValueSchema>> = {
  return: withDescription('The state to go on in when the result is there.', STATE_NAME_SCHEMA),
  next: withDescription('The state to go on in after the fork.', STATE_NAME_SCHEMA),
  cd: withDescription('The working directory.', FRONTMATTER_SCALAR_SCHEMA),
  stack: withDescription('What becomes of the callers.', { type: ['string'], enum: ['keep', 'clear', null] }),
  input: withDescription('What is {{result}} in the state.', FRONTMATTER_SCALAR_SCHEMA),
  model: withDescription('The model.', { ...NONEMPTY_SCALAR_SCHEMA, examples: SUGGESTED_VALUES.model }),
  effort: withDescription('How hard it thinks.', { ...NONEMPTY_SCALAR_SCHEMA, examples: SUGGESTED_VALUES.effort }),
};

/** What `allowed_transitions` may be: the same as `readTransitions` takes, with the language's own words in lower case. */
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
      ...Object.fromEntries(accepted.map((name) => [name, ATTRIBUTE_SCHEMAS[name]])),
    },
    ...(variables && { propertyNames: { allOf: [{ not: { enum: others } }, VARIABLE_NAME_SCHEMA] } }),
    additionalProperties: variables && withDescription('A variable of the worker.', FRONTMATTER_SCALAR_SCHEMA),
  };
}

function withDescription(description: string, schema: FrontmatterValueSchema): FrontmatterValueSchema {
  return { description, ...allowNull(schema) };
}
