import type { Edge, Target } from '../analysis/graph.ts';
import type { Deed } from './witness.ts';

/** Whether a deed may be what an edge stands for. */
export function fits(edge: Edge, deed: Deed): boolean {
  const same = (target: Target | null, state: string | null): boolean =>
    target?.kind !== 'state' || target.file === state;
  const names = same(edge.to, deed.to) && same(edge.return, deed.return) && same(edge.next, deed.next);
  return edge.from === deed.from && edge.tag === deed.tag && names;
}

/** What a target is called; null if there is none. */
export function nameOf(target: Target | null, anything: string): string | null {
  if (target === null) return null;
  return target.kind === 'state' ? target.file : target.kind === 'missing' ? target.name : anything;
}
