import { isJsonSchema, type JsonSchema } from '../language/state.ts';

/** Keywords that may add fields, or take some away: what they permit is not looked into. */
const OPEN_KEYWORDS = [
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'not',
  'patternProperties',
  'unevaluatedProperties',
  'dependentSchemas',
  'prefixItems',
  '$dynamicRef',
  'enum',
  'const',
];

/** References may lead round in a circle. */
const MAX_REFERENCES = 20;

/** True if a schema names the fields of a value, and this one is not among them. */
export function lacksField(schema: JsonSchema, path: readonly string[]): boolean {
  let place: unknown = schema;
  let references = 0;
  for (const step of path) {
    while (isJsonSchema(place) && typeof place === 'object' && typeof place.$ref === 'string') {
      references += 1;
      if (references > MAX_REFERENCES) return false;
      place = resolveReference(schema, place.$ref);
    }
    if (
      !isJsonSchema(place) ||
      typeof place === 'boolean' ||
      OPEN_KEYWORDS.some((key) => Object.hasOwn(place as object, key))
    )
      return false;
    const { type, items, properties, additionalProperties } = place;
    if (typeof type === 'string' && !['object', 'array'].includes(type)) return true;
    if (isJsonSchema(properties) && typeof properties === 'object') {
      if (Object.hasOwn(properties, step)) place = properties[step];
      else return additionalProperties === undefined || additionalProperties === false;
    } else if (/^\d+$/.test(step)) place = items;
    else return type === 'array';
  }
  return false;
}

/** The part of a schema that a local reference leads to; undefined if it leads elsewhere. */
function resolveReference(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let place: unknown = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return undefined;
    place = (place as Readonly<Record<string, unknown>>)[name];
  }
  return place;
}
