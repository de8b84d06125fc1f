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
export const FRONTMATTER_SCALAR_SCHEMA: FrontmatterValueSchema = {
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
