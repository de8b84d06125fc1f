import { TRANSITIONS } from '../core/transitions/index.ts';
import type { PlacedTag } from '../graph/state-analysis.ts';

/** An attribute that names the state to go on in, on a tag that has another word for it. */
export interface SwappedAttribute {
  readonly wrong: 'return' | 'next';
  readonly right: 'return' | 'next';
  readonly state: string;
}

/** `next` on a call, or `return` on a fork, where the right one is not there. */
export function findSwappedAttribute({ name, tag }: Pick<PlacedTag, 'name' | 'tag'>): SwappedAttribute | undefined {
  const [right] = TRANSITIONS[name].required;
  if (right === undefined) return undefined;
  const wrong = right === 'return' ? 'next' : 'return';
  const state = tag.attributes[wrong]?.trim() ?? '';
  return state === '' || tag.attributes[right] !== undefined ? undefined : { wrong, right, state };
}
