import type { EdgeTarget } from '../graph/graph.ts';
import { findStronglyConnected } from '../graph/strongly-connected.ts';
import type { RuleContext } from './rule.ts';

/** A state that nothing leads to. */
export interface UnreachedState {
  readonly state: string;
  /** The states that it leads to and nothing else does; each is listed once. */
  readonly behind: readonly string[];
  /** The files that name it, or another state of the same cycle, as a tag or a policy does. */
  readonly namedIn: readonly string[];
}

/**
 * Finds the states that nothing leads to; of those that follow on each other only the first. There are none if as many
 * transitions lead nowhere: these may be where they were to lead.
 */
export function findUnreachedStates(context: RuleContext): readonly UnreachedState[] {
  const { flow, reachIfCallsReturn } = context.proof;
  const states = context.graph.nodes.flatMap(({ state, kind }) => (kind === 'missing' ? [] : flow.numberOf(state)));
  const unreached = new Set(states.filter((state) => !reachIfCallsReturn.has(state)));
  if (unreached.size === 0) return [];
  const successors = findSuccessors(context, unreached);
  const firsts = findFirstCycles([...unreached], successors);
  if (firsts.length <= countOpenEnds(context)) return [];
  const namingFiles = findNamingFiles(context);
  const seen = new Set<number>();
  return firsts.map((component) => {
    const found = component.slice(0, 1).filter((state) => !seen.has(state) && seen.add(state));
    for (let i = 0; i < found.length; i++) {
      for (const to of successors(found[i] ?? 0)) if (!seen.has(to) && seen.add(to)) found.push(to);
    }
    const [state = '', ...behind] = found.map((each) => flow.names[each] ?? '');
    const namedIn = component.flatMap((each) => [...(namingFiles.get(flow.names[each] ?? '') ?? [])]);
    return { state, behind, namedIn };
  });
}

type Successors = (state: number) => readonly number[];

/** Finds the transitions among these states; guesses do not count. */
function findSuccessors({ graph, proof }: RuleContext, states: ReadonlySet<number>): Successors {
  const successors = new Map<number, number[]>();
  for (const edge of graph.edges) {
    if (edge.origin === 'mentioned') continue;
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

/** The components into which no other of these states leads, each in the order of its states. */
function findFirstCycles(states: readonly number[], successors: Successors): readonly (readonly number[])[] {
  const components = findStronglyConnected(states, successors);
  const componentOf = new Map(components.flatMap((component, index) => component.map((state) => [state, index])));
  const entered = new Set(
    states.flatMap((from) =>
      successors(from).flatMap((to) => (componentOf.get(to) === componentOf.get(from) ? [] : componentOf.get(to))),
    ),
  );
  return components
    .filter((_, index) => !entered.has(index))
    .map((component) => component.toSorted((a, b) => a - b))
    .sort(([a = 0], [b = 0]) => a - b);
}

/** Counts the transitions to states that do not exist, to states that are not named, and the cycles without a way out. */
function countOpenEnds({ graph, proof, isReached }: RuleContext): number {
  const ends = graph.edges.flatMap(({ from, to, return: back, next }) =>
    [to, back, next].flatMap((target) => {
      if (target?.kind !== 'missing' || target.meant !== null || !isReached(from)) return [];
      return target.name === '' ? from : target.name;
    }),
  );
  return new Set(ends).size + proof.endless.length;
}

/** A name, with the character before it if that is as in a tag or a policy. */
const NAME = /(?=[\p{L}\p{N}_-])(?<![\p{L}\p{N}_.-])(?<=([>"'=:]\s{0,9})?)[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*/gu;

/** By state, the files that have its file name in them, or its name as tags and policies do. */
function findNamingFiles({ analyses, names }: RuleContext): ReadonlyMap<string, ReadonlySet<string>> {
  const namingFiles = new Map<string, Set<string>>();
  for (const { file, source } of analyses) {
    for (const [word, before] of source.text.matchAll(NAME)) {
      for (const state of names.candidatesFor(word)) {
        if (state !== word && before === undefined) continue;
        namingFiles.set(state, (namingFiles.get(state) ?? new Set()).add(file));
      }
    }
  }
  return namingFiles;
}
