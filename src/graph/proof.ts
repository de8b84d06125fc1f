import { buildControlFlow } from './control-flow.ts';
import {
  type AbandonedCall,
  type EndlessCycle,
  type FlowFacts,
  findAbandonedCalls,
  findEndlessCycles,
  findEndlessForking,
} from './endless-cycles.ts';
import type { Graph } from './graph.ts';
import { findMoves, findReachability, type Reachability } from './reachability.ts';
import { findTermination } from './termination.ts';

/** The facts that have been proved about a workflow. */
export interface Proof extends FlowFacts {
  /** The states that could be reached if every call returned. */
  readonly reachIfCallsReturn: Reachability;
  readonly endless: readonly EndlessCycle[];
  readonly abandoned: readonly AbandonedCall[];
}

/** Proves what can and cannot happen in a workflow, in time about linear in its size. */
export function prove(graph: Graph): Proof {
  const flow = buildControlFlow(graph);
  const ends = findTermination(flow);
  const moves = findMoves(flow, ends.returns);
  const facts = { flow, ends, moves, reach: findReachability(flow, moves) };
  const allMoves = findMoves(
    flow,
    flow.names.map(() => true),
  );
  return {
    ...facts,
    reachIfCallsReturn: findReachability(flow, allMoves),
    endless: [...findEndlessCycles(facts), ...findEndlessForking(facts)],
    abandoned: findAbandonedCalls(facts),
  };
}
