import { buildControlFlow, type ControlFlow } from './control-flow.ts';
import {
  type AbandonedCall,
  type EndlessCycle,
  findAbandonedCalls,
  findEndlessCycles,
  findEndlessForking,
} from './endless-cycles.ts';
import type { Graph } from './graph.ts';
import { findReachability, type Reachability } from './reachability.ts';
import { findTermination, type TerminationFacts } from './termination.ts';

/** The facts that have been proved about a workflow. */
export interface Proof {
  readonly flow: ControlFlow;
  readonly ends: TerminationFacts;
  /** The states that can be reached, where only calls that can return do so. */
  readonly reach: Reachability;
  /** The states that could be reached if every call returned. */
  readonly reachIfCallsReturn: Reachability;
  readonly endless: readonly EndlessCycle[];
  readonly abandoned: readonly AbandonedCall[];
}

/** Proves what can and cannot happen in a workflow, in time about linear in its size. */
export function prove(graph: Graph): Proof {
  const flow = buildControlFlow(graph);
  const ends = findTermination(flow);
  const reach = findReachability(flow, ends);
  const reachIfCallsReturn = findReachability(flow, { returns: flow.names.map(() => true) });
  return {
    flow,
    ends,
    reach,
    reachIfCallsReturn,
    endless: [...findEndlessCycles(flow, ends, reach), ...findEndlessForking(flow, ends, reach)],
    abandoned: findAbandonedCalls(flow, ends, reach),
  };
}
