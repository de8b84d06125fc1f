import type { TextPosition } from '../core/text-position.ts';
import type { TagName } from '../core/transitions/index.ts';

/** What a name leads to: a state, nothing (but perhaps one was meant), or whatever the agent will choose. */
export type EdgeTarget =
  | { readonly kind: 'state'; readonly file: string }
  | {
      readonly kind: 'missing';
      readonly name: string;
      readonly meant: string | null;
      /** The other states that an ambiguous name may mean. */
      readonly others?: readonly string[];
    }
  | { readonly kind: 'any'; readonly written: string };

/** One transition that a state can make. */
export interface Edge {
  readonly from: string;
  readonly tag: TagName;
  /** Null for a result. */
  readonly to: EdgeTarget | null;
  /** Where a call comes back to. */
  readonly return: EdgeTarget | null;
  /** Where the parent of a worker goes on. */
  readonly next: EdgeTarget | null;
  /** Whether another tag of the same answer says that, such as a goto. */
  readonly borrowsNext: boolean;
  /** Whether it empties the return stack. */
  readonly clears: boolean;
  /**
   * What says so: the policy, the policy without a word of the agent, or the text. With a part, it is one of several
   * that a name may lead to of which the text has a part. A guess is a mere name in a text without tags, or a tag in
   * the code of a text that has others.
   */
  readonly origin: 'policy' | 'implicit' | 'text' | 'part' | 'guess';
  readonly at: TextPosition;
  /** Whether it hands `{{result}}` to the state it leads to. */
  readonly input: 'always' | 'perhaps' | 'never';
  /** The variables that it is known to give to a worker. */
  readonly variables: readonly string[];
}

/** A state of the picture. Missing ones are those that an edge names in vain. */
export interface GraphNode {
  readonly state: string;
  readonly kind: 'prompt' | 'script' | 'missing';
  readonly maxVisits: number | null;
  readonly description: string | null;
  /** Whether it may take ways that the edges do not show. */
  readonly open: boolean;
  /** What a missing name may mean because it is ambiguous; empty for all others. */
  readonly couldBe: readonly string[];
}

/** A workflow as states and transitions. */
export interface Graph {
  readonly name: string;
  /** The state in which it starts; null if there is none. */
  readonly entry: string | null;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly Edge[];
}

/** Whether an edge is a transition that can be made: what only guessing or a mistake has put on the map is none. */
export const isPossibleTransition = ({ origin, to, return: back, next }: Edge): boolean =>
  origin !== 'guess' && [to, back, next].every((target) => target?.kind !== 'missing');

/**
 * The transitions that edges stand for, as they are counted: a tag that a state may say, with the states that it names. A
 * state's text may say the same more than once.
 */
export function collectTransitions(edges: readonly Edge[]): readonly Edge[] {
  const seen = new Map<string, Edge>();
  for (const edge of edges.filter(isPossibleTransition)) {
    const key = JSON.stringify([edge.from, edge.tag, ...[edge.to, edge.return, edge.next].map(targetKey)]);
    if (!seen.has(key)) seen.set(key, edge);
  }
  return [...seen.values()];
}

/** All names that are left open are one. */
const targetKey = (target: EdgeTarget | null): string | null =>
  target?.kind === 'state' ? target.file : (target?.kind ?? null);
