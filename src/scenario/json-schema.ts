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

/** A scenario file as JSON Schema, for editors: what is taken if the workflow has these states. */
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

/** What is plainly a text, though YAML takes it for a number, is taken for one: see shape.ts. */
function acceptPlainScalars({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: object }): void {
  if (zodSchema === textSchema) Object.assign(jsonSchema, { type: TEXT_TYPES });
}

/** The schema with each kind of mapping taken out of it, completed, and defined once. */
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
 * One of several that differ in type. Where there is nothing to choose from, an editor points at the key that is wrong
 * and not at the whole; so they become one, whose keywords each bind their own type.
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
