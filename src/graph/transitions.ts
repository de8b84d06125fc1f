import type { Edge, EdgeTarget } from './graph.ts';

/** Whether an edge is a transition that can be made: what only guessing or a mistake has put on the map is none. */
export const isPossibleTransition = ({ origin, to, return: back, next }: Edge): boolean =>
  origin !== 'guess' && [to, back, next].every((target) => target?.kind !== 'missing');

/**
 * The transitions that edges stand for, as they are counted: a tag that a state may say, with the states that it names. A
 * state's text may say the same more than once.
 */
export function collectTransitions(edges: readonly Edge[]): readonly Edge[] {
  const seen = new Map<string, Edge>();
  for (const edge of edges.filter(isPossibleTransition)) {
    const key = JSON.stringify([edge.from, edge.tag, ...[edge.to, edge.return, edge.next].map(targetKey)]);
    if (!seen.has(key)) seen.set(key, edge);
  }
  return [...seen.values()];
}

/** All names that are left open are one. */
const targetKey = (target: EdgeTarget | null): string | null =>
  target?.kind === 'state' ? target.file : (target?.kind ?? null);
