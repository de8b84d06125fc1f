import { z } from 'zod';
import { scenarioFileSchema } from './schema.ts';
import { type JsonSchemaNode, schemaRef, TEXT_TYPES } from './schema-keywords.ts';
import { PROMPT_ONLY_KEYS, SCRIPT_FAILURE, SCRIPT_ONLY_KEYS } from './state-names.ts';

type Definitions = Readonly<Record<string, JsonSchemaNode>>;

/** Makes the JSON Schema of scenario files, for editors: it allows what the loader takes if the states exist. */
export function scenarioSchema(): object {
  const schema = z.toJSONSchema(scenarioFileSchema, { io: 'input', target: 'draft-7' });
  const merged = mergeAlternatives(schema, schema.definitions as Definitions) as { definitions: Definitions };
  const answersByStateKind = {
    prompt: forbidKeys(SCRIPT_ONLY_KEYS, 'prompt'),
    script: forbidKeys(PROMPT_ONLY_KEYS, 'script', { fail: { const: SCRIPT_FAILURE } }),
  };
  return {
    title: 'Raymond: a scenario, or canned answers',
    ...merged,
    definitions: { ...merged.definitions, ...answersByStateKind },
  };
}

/**
 * Merges alternatives that differ in type into one schema, whose keywords each apply to their own type. Without
 * alternatives, an editor marks the key that is wrong instead of the whole mapping.
 */
function mergeAlternatives(node: unknown, definitions: Definitions): unknown {
  if (Array.isArray(node)) return node.map((each) => mergeAlternatives(each, definitions));
  if (typeof node !== 'object' || node === null) return node;
  const { anyOf, allOf, ...own } = Object.fromEntries(
    Object.entries(node).map(([key, each]) => [key, mergeAlternatives(each, definitions)]),
  ) as JsonSchemaNode & Readonly<Record<'anyOf' | 'allOf', readonly JsonSchemaNode[] | undefined>>;
  if (allOf?.length === 1) return { ...own, ...allOf[0] };
  const alternatives = anyOf?.map((each) => resolveRef(each, definitions));
  if (alternatives?.every(({ type }) => type !== undefined))
    return { ...own, ...Object.assign({}, ...alternatives), ...own, type: alternatives.flatMap(({ type }) => type) };
  return { ...own, ...(anyOf && { anyOf }), ...(allOf && { allOf }) };
}

function resolveRef(node: JsonSchemaNode, definitions: Definitions): JsonSchemaNode {
  if (typeof node.$ref !== 'string') return node;
  return mergeAlternatives(definitions[node.$ref.replace('#/definitions/', '')], definitions) as JsonSchemaNode;
}

/** Answers for states of one kind: some keys are not allowed there, nor in the lists within them. */
function forbidKeys(keys: readonly string[], name: string, others: JsonSchemaNode = {}): JsonSchemaNode {
  const list = { type: 'array', items: schemaRef(name) };
  const forbidden = Object.fromEntries(keys.map((key) => [key, false]));
  return {
    ...list,
    type: [...TEXT_TYPES, 'object', 'array'],
    properties: { ...forbidden, ...others, turns: list, visits: list },
  };
}
