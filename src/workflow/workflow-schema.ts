import type { State } from '../language/state.ts';
import { FRONTMATTER_KEYS } from './frontmatter-keys.ts';
import { MANIFEST_KEYS } from './manifest.ts';
import { BODY_KEYS } from './one-file-states.ts';
import { allowNull, type FrontmatterValueSchema } from './value-schemas.ts';

/** Makes the JSON Schema of one-file workflows and of manifests, for editors: it allows what the loader takes without a finding. */
export function workflowSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Raymond: a workflow in one file, or the manifest workflow.yaml of a folder',
    type: ['object', 'null'],
    properties: {
      ...describeKeys(Object.entries(MANIFEST_KEYS)),
      states: {
        description: 'The states by their names. Without it, this is the manifest of the folder that it is in.',
        type: 'object',
        minProperties: 1,
        propertyNames: { pattern: STATE_NAME_PATTERN },
        additionalProperties: { $ref: '#/definitions/state' },
      },
    },
    additionalProperties: false,
    definitions: {
      state: { anyOf: [{ $ref: '#/definitions/prompt' }, { $ref: '#/definitions/script' }] },
      prompt: stateSchema('prompt'),
      script: stateSchema('script'),
    },
  };
}

/** As for a file: no path, no dot in front, none of the names of files for readers, with or without an extension. */
const STATE_NAME_PATTERN =
  '^(?!\\.)(?!\\s*(\\.(md|sh|ps1|bat))?$)(?!([Rr][Ee][Aa][Dd][Mm][Ee]|[Cc][Ll][Aa][Uu][Dd][Ee]|[Aa][Gg][Ee][Nn][Tt][Ss])(\\.(md|sh|ps1|bat))?$)[^/\\\\\\u0000]+$';

const BODY_PURPOSES: Readonly<Record<string, string>> = {
  prompt: 'What Claude Code is told in this state. Write it under `|`.',
  sh: 'The bash script of this state, for Unix. Write it under `|`.',
  ps1: 'The PowerShell script of this state, for Windows. Write it under `|`.',
  bat: 'The batch file of this state, for Windows. Write it under `|`.',
};

function stateSchema(kind: State['kind']): object {
  const bodies = Object.keys(BODY_KEYS).filter((key) => (key === 'prompt') === (kind === 'prompt'));
  const keys = Object.entries(FRONTMATTER_KEYS).filter(([, { onlyFor = kind }]) => onlyFor === kind);
  const isOptional = bodies.length > 1;
  const type = isOptional ? [...BODY.type, 'null'] : BODY.type;
  const texts = bodies.map((key) => [key, { description: BODY_PURPOSES[key], type }] as const);
  return {
    type: 'object',
    properties: { ...Object.fromEntries(texts), ...describeKeys(keys) },
    additionalProperties: false,
    ...(isOptional
      ? { anyOf: bodies.map((key) => ({ required: [key], properties: { [key]: BODY } })) }
      : { required: bodies }),
  };
}

/** A text; a number or `true` is one as well. */
const BODY = { type: ['string', 'number', 'boolean'] };

const describeKeys = (
  keys: readonly (readonly [string, { readonly purpose: string; readonly schema: FrontmatterValueSchema }])[],
): object =>
  Object.fromEntries(keys.map(([name, { purpose, schema }]) => [name, { description: purpose, ...allowNull(schema) }]));
