import type { EdgeTarget } from '../graph/graph.ts';
import { findStronglyConnected } from '../graph/strongly-connected.ts';
import type { RuleContext } from './rule.ts';
import { countBrokenPaths, findSuppressedStates } from './suppression.ts';

/** A state that nothing leads to. */
export interface UnreachedState {
  readonly state: string;
  /** The states that it leads to and nothing else does; each is told once. */
  readonly behind: readonly string[];
}

/**
 * The states that nothing leads to; of those that follow on each other only the first. What a mistake that is told
 * already keeps from being reached is left out, and so is what lies behind it. So are states that may be where lost
 * ways were to lead.
 */
export function findUnreachedStates(context: RuleContext): readonly UnreachedState[] {
  const { flow, reachIfCallsReturn } = context.proof;
  const states = context.graph.nodes.flatMap(({ state, kind }) => (kind === 'missing' ? [] : flow.numberOf(state)));
  const unreached = new Set(states.filter((state) => !reachIfCallsReturn.has(state)));
  if (unreached.size === 0) return [];
  const successors = findSuccessors(context, unreached);
  const seen = new Set<number>();
  const follow = (from: readonly number[]): readonly number[] => {
    const found = from.filter((state) => !seen.has(state) && seen.add(state));
    for (let i = 0; i < found.length; i++) {
      for (const to of successors(found[i] ?? 0)) if (!seen.has(to) && seen.add(to)) found.push(to);
    }
    return found;
  };
  follow([...findSuppressedStates(context)].map(flow.numberOf).filter((state) => unreached.has(state)));
  const rest = [...unreached].filter((state) => !seen.has(state));
  const firsts = findFirstStates(rest, successors);
  if (firsts.length <= countBrokenPaths(context)) return [];
  return firsts.map((first) => {
    const names = follow([first]).map((state) => flow.names[state] ?? '');
    return { state: flow.names[first] ?? '', behind: names.slice(1) };
  });
}

type Successors = (state: number) => readonly number[];

/** Where the states lead among these, as far as something says so: a mere name in a note leads nowhere. */
function findSuccessors({ graph, proof }: RuleContext, states: ReadonlySet<number>): Successors {
  const successors = new Map<number, number[]>();
  for (const edge of graph.edges) {
    if (edge.origin === 'guess') continue;
    const from = proof.flow.numberOf(edge.from);
    const known = successors.get(from) ?? [];
    for (const file of [edge.to, edge.return, edge.next].flatMap(filesOf)) {
      const to = proof.flow.numberOf(file);
      if (states.has(to)) known.push(to);
    }
    successors.set(from, known);
  }
  return (state) => successors.get(state) ?? [];
}

function filesOf(target: EdgeTarget | null): readonly string[] {
  if (target === null || target.kind === 'any') return [];
  if (target.kind === 'state') return [target.file];
  return target.meant === null ? [] : [target.meant, ...(target.others ?? [])];
}

/** The states to which no other of these leads; of a ring that nothing leads into, the first. */
function findFirstStates(states: readonly number[], successors: Successors): readonly number[] {
  const components = findStronglyConnected(states, successors);
  const componentOf = new Map(components.flatMap((component, index) => component.map((state) => [state, index])));
  const entered = new Set(
    states
      .flatMap((from) => successors(from).filter((to) => componentOf.get(to) !== componentOf.get(from)))
      .map((to) => componentOf.get(to)),
  );
  return components
    .flatMap((component, index) => (entered.has(index) ? [] : component.toSorted((a, b) => a - b).slice(0, 1)))
    .sort((a, b) => a - b);
}
