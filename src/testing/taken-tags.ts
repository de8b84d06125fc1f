import type { Event, Transitioned } from '../core/run/event.ts';
import type { Edge, EdgeTarget } from '../graph/graph.ts';
import type { GuardOutcome } from '../language/guards.ts';
import type { FollowedTag } from '../language/tags/followed-tag.ts';

/** A tag that an agent followed, and the state it left with it. */
export interface TakenTag extends FollowedTag {
  readonly from: string;
  /** The guard that made this transition; null for an answer. */
  readonly guard: GuardOutcome | null;
  /** The text of a result; null for other tags. */
  readonly payload: string | null;
  /** The evaluator that decided on it; null if the state did. */
  readonly evaluator: string | null;
  /** The state that the agent went to; null if it ended. */
  readonly to: string | null;
  /** True if it went there because nobody answered in time. */
  readonly timedOut: boolean;
}

/** The tags that the agents of a run followed, in the order of its events. */
export function collectTakenTags(events: readonly Event[]): readonly TakenTag[] {
  /** By agent, the join that it waits at. */
  const joins = new Map<string, TakenTag>();
  return events.flatMap((event, index): readonly TakenTag[] => {
    if (event.kind === 'joined') {
      const join = joins.get(event.agent);
      return event.timedOut && join !== undefined ? [{ ...join, to: event.to, timedOut: true }] : [];
    }
    if (event.kind !== 'transition') return [];
    const tags = listTags(event, events[index - 1]?.kind === 'ask_timed_out');
    for (const tag of tags) if (tag.tag === 'join') joins.set(event.agent, tag);
    return tags;
  });
}

function listTags(event: Transitioned, timedOut: boolean): readonly TakenTag[] {
  const { state: from, tag, to, tags, input, guard, choice } = event;
  const attributes = {};
  if (guard !== undefined) {
    const written = { target: to, attributes };
    const taken = { from, tag, target: to, to, timedOut, attributes, written, guard: guard.outcome };
    return [{ ...taken, payload: null, evaluator: null }];
  }
  const evaluator = choice.by === 'evaluator' ? choice.name : null;
  return tags.map((each) => {
    const payload = each.tag === 'result' ? input : null;
    return { ...each, from, to, timedOut, guard: null, payload, evaluator };
  });
}

/**
 * True if an edge of the graph stands for this tag. An edge that leaves a state open stands for every state there; one of an
 * evaluator only for what that evaluator decided.
 */
export function matchesEdge(edge: Edge, taken: TakenTag): boolean {
  const { from, tag, guard, target, payload, evaluator, attributes, to, timedOut } = taken;
  const matches = (edgeTarget: EdgeTarget | null, state: string | null | undefined): boolean =>
    edgeTarget?.kind !== 'state' || edgeTarget.file === state;
  return (
    edge.from === from &&
    edge.guard === guard &&
    (guard !== null || edge.tag === tag) &&
    (edge.evaluator === null || edge.evaluator === evaluator) &&
    (edge.payload === null || edge.payload === payload) &&
    edge.timesOut === timedOut &&
    matches(edge.to, tag === 'ask' || timedOut ? to : target) &&
    matches(edge.return, attributes.return) &&
    matches(edge.next, attributes.next)
  );
}

/** The name of an edge's target, or the wildcard where the state is left open; null if there is no target. */
export function formatEdgeTarget(target: EdgeTarget | null, wildcard: string): string | null {
  if (target === null) return null;
  return target.kind === 'state' ? target.file : target.kind === 'missing' ? target.name : wildcard;
}
