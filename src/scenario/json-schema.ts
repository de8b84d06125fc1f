import { z } from 'zod';
import { text } from './answer-schema.ts';
import { KINDS, type Kind, NARROWED, type Node, ref, TEXT_TYPES } from './json-rules.ts';
import { SCENARIO } from './schema.ts';

type Definitions = Map<string, Node>;

/** A scenario file as JSON Schema, for editors: what is taken if the workflow has these states. */
export function scenarioSchema(): object {
  const definitions: Definitions = new Map();
  define(z.toJSONSchema(SCENARIO, { io: 'input', target: 'draft-7', override: asTaken }), definitions);
  const { file, ...others } = Object.fromEntries(definitions);
  return { title: 'Raymond: a scenario, or canned answers', ...file, definitions: { ...others, ...NARROWED } };
}

/** What is plainly a text, though YAML takes it for a number, is taken for one: see shape.ts. */
function asTaken({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: object }): void {
  if (zodSchema === text) Object.assign(jsonSchema, { type: TEXT_TYPES });
}

/** The schema with each kind of mapping taken out of it, completed, and defined once. */
function define(node: unknown, definitions: Definitions): unknown {
  if (Array.isArray(node)) return node.map((each) => define(each, definitions));
  if (typeof node !== 'object' || node === null) return node;
  const inner: Node = Object.fromEntries(Object.entries(node).map(([key, each]) => [key, define(each, definitions)]));
  if (Array.isArray(inner.anyOf)) return either(inner.anyOf, definitions);
  const [name, kind] = kindOf(inner) ?? [];
  if (name === undefined || kind === undefined) return inner;
  definitions.set(name, completed(inner, kind));
  return ref(name);
}

function kindOf({ properties = {} }: Node): [string, Kind] | undefined {
  const has = (key = ''): boolean => Object.hasOwn(properties as object, key);
  return Object.entries(KINDS).find(([, { marks }]) => has(marks[0]) && !has(marks[1]));
}

function completed(node: Node, { purposes, rules, values }: Kind): Node {
  const properties = Object.entries(node.properties as Readonly<Record<string, Node>>).map(
    ([key, { type, ...shape }]) => {
      const description = purposes[key] && { description: purposes[key] };
      return [key, { ...description, ...shape, ...values?.[key], ...(type !== undefined && { type }) }];
    },
  );
  return { ...node, properties: Object.fromEntries(properties), ...rules };
}

/**
 * One of several that differ in type. Where there is nothing to choose from, an editor points at the key that is wrong
 * and not at the whole; so they become one, whose keywords each bind their own type.
 */
function either(several: readonly Node[], definitions: Definitions): Node {
  const [first = {}, second = {}] = several;
  if (Array.isArray(first.type) && typeof second.$ref === 'string') {
    definitions.set(nameOf(second), { ...definitions.get(nameOf(second)), type: [...first.type, 'object'] });
    return second;
  }
  const kinds = several.map((kind) => (typeof kind.$ref === 'string' ? (definitions.get(nameOf(kind)) ?? {}) : kind));
  const whole = { ...Object.assign({}, ...kinds), type: kinds.flatMap(({ type }) => type) };
  if (nameOf(first) !== 'entry') return whole;
  definitions.set('state', whole);
  return ref('state');
}

const nameOf = ({ $ref }: Node): string => String($ref).replace('#/definitions/', '');
