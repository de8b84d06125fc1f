import { type Abandoned, type Endless, findAbandoned, findEndless, findGenerations } from './endless.ts';
import { type Ends, findEnds } from './ends.ts';
import { type Flow, flowOf } from './flow.ts';
import type { Graph } from './graph.ts';
import { findReach, type Reach } from './reach.ts';

/** What has been proved about a workflow. */
export interface Proof {
  readonly flow: Flow;
  readonly ends: Ends;
  /** What can be reached if returns are real. */
  readonly reach: Reach;
  /** What could be reached if every call came back. */
  readonly mentioned: Reach;
  readonly endless: readonly Endless[];
  readonly abandoned: readonly Abandoned[];
}

/** Proves how a workflow can and cannot go, in time about linear in its size. */
export function prove(graph: Graph): Proof {
  const flow = flowOf(graph);
  const ends = findEnds(flow);
  const reach = findReach(flow, ends);
  const mentioned = findReach(flow, { returns: flow.names.map(() => true) });
  return {
    flow,
    ends,
    reach,
    mentioned,
    endless: [...findEndless(flow, ends, reach), ...findGenerations(flow, ends, reach)],
    abandoned: findAbandoned(flow, ends, reach),
  };
}
