import type { Agent } from '../core/agent.ts';
import type { StateTally } from '../events/run-tally.ts';

/** What an arrow stands for: a tag, where a call comes back to, where the parent of a worker goes on, or a mere guess. */
export type ArrowKind =
  | 'begin'
  | 'goto'
  | 'reset'
  | 'call'
  | 'function'
  | 'return'
  | 'fork'
  | 'next'
  | 'result'
  | 'back'
  | 'guess';

/** All arrows of one kind between the same two shapes. */
export interface Arrow {
  readonly from: string;
  readonly kind: ArrowKind;
  readonly to: string;
  /** What is written on it. */
  readonly labels: readonly string[];
  /** How often agents took it; null where no run is drawn. */
  readonly times: number | null;
  /** Whether the workflow, as it is now, does not show this way although it was taken. */
  readonly unforeseen: boolean;
  /** Whether it is one of several that a name leads to of which only a part is known. */
  readonly computed: boolean;
}

/** A state, or one of the marks that stand beside states. */
export type DiagramShape = StateShape | DiagramMarker;

export interface StateShape {
  readonly key: string;
  /** `missing` is named but does not exist, `ambiguous` could be several; `gone` was visited and exists no longer. */
  readonly kind: 'prompt' | 'script' | 'missing' | 'ambiguous' | 'gone';
  readonly state: string;
  readonly description: string | null;
  readonly maxVisits: number | null;
  /** Whether it may take ways that the arrows do not show. */
  readonly open: boolean;
  /** The states that an ambiguous name could mean. */
  readonly couldBe: readonly string[];
  /** What a run did here; null where none is drawn, or it was never here. */
  readonly tally: StateTally | null;
  /** The agents that are here now. */
  readonly agents: readonly PresentAgent[];
}

/** `begin`: where the first agent enters. `end` and `back`: where a result goes. `any`: a state whose name is known only when it is said. */
export interface DiagramMarker {
  readonly key: string;
  readonly kind: 'begin' | 'end' | 'back' | 'any' | 'unsaid';
  /** Whether some agent came by; always, where no run is drawn. */
  readonly passed: boolean;
}

/** An agent, what it is doing in the state it is in, and why if it failed there or was paused. */
export interface PresentAgent extends Pick<Agent, 'id'> {
  readonly doing: Agent['phase']['kind'];
  readonly why: string | null;
}

/** A workflow as it is to be drawn, whatever with. */
export interface Diagram {
  readonly name: string;
  readonly shapes: readonly DiagramShape[];
  readonly arrows: readonly Arrow[];
  /** How many transitions the workflow has: a tag may be several arrows, and an arrow several tags. */
  readonly transitions: number;
  /** Whether a run is drawn over it. */
  readonly hasRun: boolean;
}

/** Whether a shape is a state and not a mark. */
export const isStateShape = (shape: DiagramShape): shape is StateShape => 'state' in shape;
