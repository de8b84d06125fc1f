/*
 * Checks that are made by code, as keywords of JSON Schema, as far as it can express them: zod cannot derive these.
 * test/schemas.test.ts compares the two.
 */

/** A JSON Schema, or a part of one. */
export interface JsonSchemaNode {
  readonly [keyword: string]: unknown;
}

/** Refers to a definition of the schema. */
export const schemaRef = (name: string): JsonSchemaNode => ({ $ref: `#/definitions/${name}` });

/** Requires at least one of the keys; for `anyOf`. */
export const requiresOneOf = (keys: readonly string[]): readonly JsonSchemaNode[] =>
  keys.map((key) => ({ required: [key] }));

/** Allows no other keys. */
export const goesWithKeys = (...keys: readonly string[]): JsonSchemaNode => ({ propertyNames: { enum: keys } });

/** Allows a key only with `fail: usage_limit`. */
export const ONLY_WITH_USAGE_LIMIT: JsonSchemaNode = {
  anyOf: [{ required: ['fail'], properties: { fail: { const: 'usage_limit' } } }, { required: ['quota'] }],
};

/** The types that are read as a text. */
export const TEXT_TYPES: readonly string[] = ['string', 'number', 'boolean'];

const NAME_PATTERN = '[^/\\\\\\u0000]+';
const IN_WORKFLOW = `(${NAME_PATTERN}/)?`;
/** STATE, or WORKFLOW/STATE for one of a workflow that is called. */
const STATE_NAME: JsonSchemaNode = { pattern: `^${IN_WORKFLOW}${NAME_PATTERN}$` };
const notMatching = (pattern: string): JsonSchemaNode => ({ not: { pattern } });

/** A mapping whose keys are states. */
export const BY_STATE: JsonSchemaNode = { propertyNames: STATE_NAME };

/** A mapping whose keys are scripts. */
export const BY_SCRIPT: JsonSchemaNode = {
  propertyNames: { pattern: `^${IN_WORKFLOW}${NAME_PATTERN}\\.(sh|ps1|bat)$` },
};

/** A mapping whose keys are PROMPT or AGENT/PROMPT. */
export const BY_PROMPT: JsonSchemaNode = {
  propertyNames: {
    pattern: `^(${NAME_PATTERN}/)?${IN_WORKFLOW}${NAME_PATTERN}$`,
    ...notMatching('[^/]\\.(sh|ps1|bat)$'),
  },
};

/** A mapping whose keys are STATE or AGENT/STATE. */
export const BY_AGENT_AND_STATE: JsonSchemaNode = {
  propertyNames: { pattern: `^(${NAME_PATTERN}/)?${IN_WORKFLOW}${NAME_PATTERN}$` },
};

/** A list of states. */
export const STATE_LIST: JsonSchemaNode = { items: { type: TEXT_TYPES, ...STATE_NAME } };

/** Answers by state: an extension in the name decides between answers of prompts and of scripts. */
export const ANSWERS: JsonSchemaNode = {
  ...BY_STATE,
  patternProperties: {
    '[^/]\\.md$': { allOf: [schemaRef('state'), schemaRef('prompt')] },
    '[^/]\\.(sh|ps1|bat)$': { allOf: [schemaRef('state'), schemaRef('script')] },
  },
};

const OUTSIDE_PATTERN = '^[/\\\\]|^[A-Za-z]:|(^|[/\\\\])\\.\\.([/\\\\]|$)|\\u0000';

/** A mapping whose keys `explainInvalidPath` allows: neither absolute nor through `..`, and not a folder. */
export const BY_FILE: JsonSchemaNode = { propertyNames: notMatching(`${OUTSIDE_PATTERN}|(^|[/\\\\])\\.?$`) };

/** A mapping whose keys `explainInvalidFile` allows, where a name that ends in `/` is an empty folder. */
export const FILES: JsonSchemaNode = {
  propertyNames: notMatching(`${OUTSIDE_PATTERN}|^$|\\\\$|(^|[/\\\\])(\\.|\\.?/)$`),
  additionalProperties: { type: TEXT_TYPES },
  patternProperties: { '/$': { enum: ['', null] } },
};
