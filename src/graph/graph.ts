import type { GuardOutcome, Guards } from '../language/guards.ts';
import type { TextPosition } from '../language/text/text.ts';
import { isAttributeWord, startsWorkers, type TagName } from '../language/transitions/index.ts';
import { uniqueBy } from './group-by.ts';
import { formatNamePattern } from './state-resolver.ts';

/** The target of an edge: a state, a name that finds none (though one may be meant), or any state that the agent chooses. */
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
  /** The text that the policy demands of a result; null if it may be any. */
  readonly payload: string | null;
  /** The state that a call returns to. */
  readonly return: EdgeTarget | null;
  /** The state in which the parent of a worker continues. */
  readonly next: EdgeTarget | null;
  /** True if another tag of the same answer names `next`, such as a goto. */
  readonly borrowsNext: boolean;
  /** True if it is taken when the time for something is over, such as that for an answer. */
  readonly timesOut: boolean;
  /** True if it empties the return stack. */
  readonly clearsStack: boolean;
  /**
   * Where the edge comes from: the policy, a policy with a single transition that needs no tag (`implicit`), or a tag in the
   * text. `partial-name`: only a part of a name is known, and this is one of the states that fit. `mentioned`: a state that a
   * prompt without tags mentions, or a tag in code beside tags outside of code. `guard`: the frontmatter says so of an outcome.
   */
  readonly origin: 'policy' | 'implicit' | 'text' | 'partial-name' | 'mentioned' | 'guard';
  /** The outcome that makes this transition; null for an answer. */
  readonly guard: GuardOutcome | null;
  readonly at: TextPosition;
  /** The evaluator that overrides the answer of the state with it: a file or a pattern; null for the state's own. */
  readonly evaluator: string | null;
  /** True if it passes a `{{result}}` to the state it leads to. */
  readonly passesInput: 'always' | 'perhaps' | 'never';
  /** The variables that it is known to set for a worker. */
  readonly variables: readonly string[];
  /** Its attributes about workers: worktree, group, and the workers that a join waits for. */
  readonly terms: readonly EdgeTerm[];
}

/** A state. Missing ones are those that an edge names and that do not exist. */
export interface GraphNode {
  readonly state: string;
  readonly kind: 'prompt' | 'script' | 'missing';
  readonly maxVisits: number | null;
  /** The scope that `max_visits` counts in: the whole agent, or one call. */
  readonly maxVisitsPer: Guards['maxVisitsPer'];
  readonly description: string | null;
  /** True if it may make transitions that the edges do not show. */
  readonly open: boolean;
  /** The states that an ambiguous name could mean; empty for all others. */
  readonly couldBe: readonly string[];
}

/** A workflow as states and transitions. */
export interface Graph {
  readonly name: string;
  /** The state in which it starts; null if there is none. */
  readonly entry: string | null;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly Edge[];
  /** Which scripts and prompts evaluate the answers of which states. */
  readonly evaluatorUses: readonly EvaluatorUse[];
  /** Those of them that are no states: no transition leads to them. */
  readonly mereEvaluators: ReadonlySet<string>;
}

/** A script or a prompt that evaluates the answers of a state. */
export interface EvaluatorUse {
  readonly state: string;
  readonly file: string;
}

/** True if an edge is a transition that can be made, and not only a mention or a mistake. */
export const isPossibleTransition = (edge: Edge): boolean =>
  edge.origin !== 'mentioned' && targetsOf(edge).every(({ kind }) => kind !== 'missing');

/** The states that an edge names. */
export const targetsOf = ({ to, return: back, next }: Edge): readonly EdgeTarget[] =>
  [to, back, next].filter((target) => target !== null);

/** The files that a target means, or may mean. */
export function filesOf(target: EdgeTarget): readonly string[] {
  if (target.kind === 'state') return [target.file];
  return target.kind === 'any' || target.meant === null ? [] : [target.meant, ...(target.others ?? [])];
}

/**
 * Collects the transitions of edges, as they are counted: a tag with the states that it names, or the text of a result that
 * the policy demands, once for each state that may answer with it.
 */
export const collectTransitions = (edges: readonly Edge[]): readonly Edge[] =>
  uniqueBy(edges.filter(isPossibleTransition), (edge) => {
    const { from, tag, guard, to, payload, evaluator, timesOut, return: back, next } = edge;
    return JSON.stringify([from, tag, guard, payload, evaluator, timesOut, ...[to, back, next].map(targetKey)]);
  });

/** Names that are left to the agent count as one. */
const targetKey = (target: EdgeTarget | null): string | null =>
  target?.kind === 'state' ? target.file : (target?.kind ?? null);

/** Something that a tag says about workers and that belongs on its arrow: their worktree or group, or which of them a join awaits. */
export interface EdgeTerm {
  readonly kind: 'worktree' | 'group' | 'wait' | 'cancel';
  /** The group, or how many workers are awaited; null for what has no value. */
  readonly value: string | null;
}

/** The terms of a tag that is written with any of these attributes. */
export function termsIn(
  name: TagName,
  attributeSets: readonly Readonly<Record<string, string>>[],
): readonly EdgeTerm[] {
  if (name !== 'join' && !startsWorkers(name)) return [];
  const terms = attributeSets.flatMap((each) => (name === 'join' ? joinTerms(each) : workerTerms(name, each)));
  return [...new Map(terms.map((term) => [`${term.kind} ${term.value}`, term])).values()];
}

const workerTerms = (name: TagName, { worktree, group }: Readonly<Record<string, string>>): readonly EdgeTerm[] => [
  ...(isAttributeWord(name, 'worktree', worktree) ? [{ kind: 'worktree', value: null } as const] : []),
  ...groupTerms(group),
];

const joinTerms = ({ group, wait = 'all', cancel }: Readonly<Record<string, string>>): readonly EdgeTerm[] => [
  ...groupTerms(group),
  ...(wait === 'all' ? [] : [{ kind: 'wait', value: formatNamePattern(wait) } as const]),
  ...(cancel === 'true' ? [{ kind: 'cancel', value: null } as const] : []),
];

const groupTerms = (group: string | undefined): readonly EdgeTerm[] =>
  group === undefined ? [] : [{ kind: 'group', value: formatNamePattern(group) }];
