import type { Event, FollowedTag, Transitioned } from '../core/event.ts';
import type { GuardOutcome } from '../core/guards.ts';
import type { Edge, EdgeTarget } from '../graph/graph.ts';

/** A tag that an agent followed, and the state it left with it. */
export interface TakenTag extends FollowedTag {
  readonly from: string;
  /** The guard that made this transition; null for an answer. */
  readonly guard: GuardOutcome | null;
  /** The text of a result; null for other tags. */
  readonly payload: string | null;
  /** The evaluator that decided on it; null if the state did. */
  readonly evaluator: string | null;
}

/** The tags that the agents of a run followed, in the order of its events. */
export const collectTakenTags = (events: readonly Event[]): readonly TakenTag[] =>
  events.flatMap((event) => (event.kind === 'transition' ? listTags(event) : []));

function listTags({ state: from, tag, to, tags, input, guard, choice }: Transitioned): readonly TakenTag[] {
  const attributes = {};
  if (guard !== undefined) {
    const written = { target: to, attributes };
    return [{ from, tag, target: to, attributes, written, guard: guard.outcome, payload: null, evaluator: null }];
  }
  const evaluator = choice.by === 'evaluator' ? choice.name : null;
  return tags.map((each) => ({ ...each, from, guard: null, payload: each.tag === 'result' ? input : null, evaluator }));
}

/**
 * Whether an edge of the graph stands for this tag. An edge that leaves a state open stands for every state there; one of an
 * evaluator only for what that evaluator decided.
 */
export function matchesEdge(edge: Edge, taken: TakenTag): boolean {
  const { from, tag, guard, target, payload, evaluator, attributes } = taken;
  const matches = (edgeTarget: EdgeTarget | null, state: string | null | undefined): boolean =>
    edgeTarget?.kind !== 'state' || edgeTarget.file === state;
  return (
    edge.from === from &&
    edge.guard === guard &&
    (guard !== null || edge.tag === tag) &&
    (edge.evaluator === null || edge.evaluator === evaluator) &&
    (edge.payload === null || edge.payload === payload) &&
    matches(edge.to, target) &&
    matches(edge.return, attributes.return) &&
    matches(edge.next, attributes.next)
  );
}

/** The name of an edge's target, or the wildcard where the state is left open; null if there is no target. */
export function formatEdgeTarget(target: EdgeTarget | null, wildcard: string): string | null {
  if (target === null) return null;
  return target.kind === 'state' ? target.file : target.kind === 'missing' ? target.name : wildcard;
}
