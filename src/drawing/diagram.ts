import type { Agent } from '../core/run/agent.ts';
import type { WorktreePlace } from '../core/run/worktree.ts';
import type { EdgeTerm } from '../graph/graph.ts';
import type { StateTally } from '../render/run-tally.ts';

/**
 * The meaning of an arrow: a tag, the `return` of a call, the `next` of a fork, a guard, the evaluator of a
 * state, or a state that is only mentioned.
 */
export type ArrowKind =
  | 'begin'
  | 'goto'
  | 'reset'
  | 'compact'
  | 'call'
  | 'function'
  | 'return'
  | 'fork'
  | 'next'
  | 'join'
  | 'ask'
  | 'result'
  | 'back'
  | 'guard'
  | 'evaluator'
  | 'mentioned';

/** All arrows of one kind between the same two shapes. */
export interface Arrow {
  readonly from: string;
  readonly kind: ArrowKind;
  readonly to: string;
  readonly labels: readonly string[];
  /** The part of its labels about workers. */
  readonly terms: readonly EdgeTerm['kind'][];
  /** How often agents took it; null if no run is drawn. */
  readonly times: number | null;
  /** True if it was taken although the workflow, as it is now, does not have it. */
  readonly unforeseen: boolean;
  /** True if it leads to one of several states that fit a name of which only a part is known. */
  readonly computed: boolean;
}

/** A state, or a marker beside states. */
export type DiagramShape = StateShape | DiagramMarker;

/** A state, or a name that is used as one. */
export interface StateShape {
  readonly key: string;
  /** `missing` is named but does not exist, `ambiguous` could be several; `gone` was visited and exists no longer. */
  readonly kind: 'prompt' | 'script' | 'missing' | 'ambiguous' | 'gone';
  readonly state: string;
  readonly description: string | null;
  readonly maxVisits: number | null;
  readonly maxVisitsPer: 'agent' | 'call';
  /** True if it may make transitions that no arrow shows. */
  readonly open: boolean;
  /** The states that an ambiguous name could mean. */
  readonly couldBe: readonly string[];
  /** The run's record of this state; null if no run is drawn or it never entered the state. */
  readonly tally: StateTally | null;
  /** The agents that are here now. */
  readonly agents: readonly PresentAgent[];
}

/**
 * A small shape that is no state. `begin`: where the first agent starts. `end` and `caller`: where a result goes.
 * `any`: a state that is chosen at run time. `targetless`: a tag without the name of a state.
 */
export interface DiagramMarker {
  readonly key: string;
  readonly kind: 'begin' | 'end' | 'caller' | 'any' | 'targetless';
  /** True if an agent passed it; always true if no run is drawn. */
  readonly passed: boolean;
}

/** An agent, what it is doing in its state, and why if it failed, was paused or waits for workers there. */
export interface PresentAgent extends Pick<Agent, 'id'> {
  readonly label: string;
  readonly doing: Agent['phase']['kind'];
  readonly why: string | null;
  /** The git worktree that it works in, if it has one of its own. */
  readonly worktree: WorktreePlace | null;
}

/** A workflow as it is drawn, in any format. */
export interface Diagram {
  readonly name: string;
  readonly shapes: readonly DiagramShape[];
  readonly arrows: readonly Arrow[];
  /** The number of transitions: not that of arrows, as a tag may be several arrows and an arrow several tags. */
  readonly transitions: number;
  /** True if a run is drawn over it. */
  readonly hasRun: boolean;
}

/** True if a shape is a state and not a marker. */
export const isStateShape = (shape: DiagramShape): shape is StateShape => 'state' in shape;
