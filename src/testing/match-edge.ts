import type { Edge, EdgeTarget } from '../graph/graph.ts';
import type { TakenTag } from './tag-trace.ts';

/** Whether a deed may be what an edge stands for. */
export function matchesEdge(edge: Edge, takenTag: TakenTag): boolean {
  const matchesTarget = (target: EdgeTarget | null, state: string | null): boolean =>
    target?.kind !== 'state' || target.file === state;
  const targetsMatch =
    matchesTarget(edge.to, takenTag.to) &&
    matchesTarget(edge.return, takenTag.return) &&
    matchesTarget(edge.next, takenTag.next);
  return edge.from === takenTag.from && edge.tag === takenTag.tag && targetsMatch;
}

/** What a target is called; null if there is none. */
export function formatEdgeTarget(target: EdgeTarget | null, wildcard: string): string | null {
  if (target === null) return null;
  return target.kind === 'state' ? target.file : target.kind === 'missing' ? target.name : wildcard;
}
