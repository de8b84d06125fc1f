import type { TagName } from '../language/transitions/index.ts';
import type { Edge } from './graph.ts';

type Attributes = Readonly<Record<string, string>>;

/** True if a tag with these attributes has an input. */
export const hasInput = (attributes: Attributes): boolean =>
  attributes.input !== undefined || attributes['input-file'] !== undefined;

/** True if a tag hands an input over. The answer to a question is one, and an item of a `<fork-each>` may have one. */
export function passesInput(tag: TagName, attributes: Attributes, perhaps: boolean): Edge['passesInput'] {
  if (tag === 'ask' || hasInput(attributes)) return 'always';
  return perhaps || tag === 'fork-each' ? 'perhaps' : 'never';
}
