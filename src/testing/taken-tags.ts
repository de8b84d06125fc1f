import type { Event, Transitioned } from '../core/event.ts';
import type { FollowedTag } from '../core/followed-tag.ts';
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
  /** The state that the agent went to; null if it ended. */
  readonly to: string | null;
  /** Whether it went there because nobody answered in time. */
  readonly timedOut: boolean;
}

/** The tags that the agents of a run followed, in the order of its events. */
export const collectTakenTags = (events: readonly Event[]): readonly TakenTag[] =>
  events.flatMap((event, index) =>
    event.kind === 'transition' ? listTags(event, events[index - 1]?.kind === 'ask_timed_out') : [],
  );

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
 * Whether an edge of the graph stands for this tag. An edge that leaves a state open stands for every state there; one of an
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
    matches(edge.to, tag === 'ask' ? to : target) &&
    matches(edge.return, attributes.return) &&
    matches(edge.next, attributes.next) &&
    matches(edge.timeout, attributes.timeout_next)
  );
}

/** The name of an edge's target, or the wildcard where the state is left open; null if there is no target. */
export function formatEdgeTarget(target: EdgeTarget | null, wildcard: string): string | null {
  if (target === null) return null;
  return target.kind === 'state' ? target.file : target.kind === 'missing' ? target.name : wildcard;
}
