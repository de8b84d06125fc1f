import { z } from 'zod';
import { textSchema } from './answer-schema.ts';
import {
  ANSWERS_BY_STATE_KIND,
  type JsonSchemaNode,
  MAPPING_KINDS,
  type MappingKind,
  schemaRef,
  TEXT_TYPES,
} from './json-schema-rules.ts';
import { scenarioFileSchema } from './schema.ts';

type Definitions = Map<string, JsonSchemaNode>;

/** Makes the JSON Schema of scenario files, for editors: it allows what the loader takes if the states exist. */
export function scenarioSchema(): object {
  const definitions: Definitions = new Map();
  extractDefinitions(
    z.toJSONSchema(scenarioFileSchema, { io: 'input', target: 'draft-7', override: acceptPlainScalars }),
    definitions,
  );
  const { file, ...others } = Object.fromEntries(definitions);
  return {
    title: 'Raymond: a scenario, or canned answers',
    ...file,
    definitions: { ...others, ...ANSWERS_BY_STATE_KIND },
  };
}

/** Allows numbers and booleans where a text is expected, as parse-document.ts does. */
function acceptPlainScalars({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: object }): void {
  if (zodSchema === textSchema) Object.assign(jsonSchema, { type: TEXT_TYPES });
}

/** Moves each kind of mapping out of the schema, completed, into a definition of its own. */
function extractDefinitions(node: unknown, definitions: Definitions): unknown {
  if (Array.isArray(node)) return node.map((each) => extractDefinitions(each, definitions));
  if (typeof node !== 'object' || node === null) return node;
  const inner: JsonSchemaNode = Object.fromEntries(
    Object.entries(node).map(([key, each]) => [key, extractDefinitions(each, definitions)]),
  );
  if (Array.isArray(inner.anyOf)) return mergeAlternatives(inner.anyOf, definitions);
  const [name, kind] = findMappingKind(inner) ?? [];
  if (name === undefined || kind === undefined) return inner;
  definitions.set(name, completeDefinition(inner, kind));
  return schemaRef(name);
}

function findMappingKind({ properties = {} }: JsonSchemaNode): [string, MappingKind] | undefined {
  const has = (key = ''): boolean => Object.hasOwn(properties as object, key);
  return Object.entries(MAPPING_KINDS).find(
    ([, { distinguishingKeys }]) => has(distinguishingKeys[0]) && !has(distinguishingKeys[1]),
  );
}

function completeDefinition(node: JsonSchemaNode, { descriptions, rules, values }: MappingKind): JsonSchemaNode {
  const properties = Object.entries(node.properties as Readonly<Record<string, JsonSchemaNode>>).map(
    ([key, { type, ...shape }]) => {
      const description = descriptions[key] && { description: descriptions[key] };
      return [key, { ...description, ...shape, ...values?.[key], ...(type !== undefined && { type }) }];
    },
  );
  return { ...node, properties: Object.fromEntries(properties), ...rules };
}

/**
 * Merges alternatives that differ in type into one schema, whose keywords each apply to their own type. Without
 * alternatives, an editor marks the key that is wrong instead of the whole mapping.
 */
function mergeAlternatives(alternatives: readonly JsonSchemaNode[], definitions: Definitions): JsonSchemaNode {
  const [first = {}, second = {}] = alternatives;
  if (Array.isArray(first.type) && typeof second.$ref === 'string') {
    definitions.set(definitionName(second), {
      ...definitions.get(definitionName(second)),
      type: [...first.type, 'object'],
    });
    return second;
  }
  const kinds = alternatives.map((kind) =>
    typeof kind.$ref === 'string' ? (definitions.get(definitionName(kind)) ?? {}) : kind,
  );
  const merged = { ...Object.assign({}, ...kinds), type: kinds.flatMap(({ type }) => type) };
  if (definitionName(first) !== 'entry') return merged;
  definitions.set('state', merged);
  return schemaRef('state');
}

const definitionName = ({ $ref }: JsonSchemaNode): string => String($ref).replace('#/definitions/', '');
