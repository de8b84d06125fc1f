import { filesOf, targetsOf } from '../../graph/graph.ts';
import { groupBy } from '../../graph/group-by.ts';
import { findStronglyConnected } from '../../graph/strongly-connected.ts';
import { workflowNameOf } from '../../language/named-workflows.ts';
import { WHOLE_FILE } from '../../language/text/text.ts';
import { defineRule, type RuleContext } from '../rule.ts';

/** Nothing leads to a state. */
export const unreachableState = defineRule({ id: 'unreachable-state', level: 'warning' }, (context) => {
  const { workflow, graph, proof } = context;
  // Of a workflow that is called, others may enter other states.
  const own = graph.nodes.filter(({ kind, state }) => kind !== 'missing' && workflowNameOf(state) === null);
  const nodes = own
    .filter(({ state }) => !graph.mereEvaluators.has(state))
    .map(({ state }) => proof.flow.numberOf(state));
  const unreached = new Set(nodes.filter((state) => !proof.reachIfCallsReturn.has(state)));
  const successors = findSuccessors(context, unreached);
  removeForeignEntries(unreached, workflow.foreignEntries?.map(proof.flow.numberOf) ?? [], successors);
  if (graph.entry === null || unreached.size === 0) return [];
  // Of states that follow on each other, only the first is reported.
  const firsts = findFirstCycles([...unreached], successors);
  // If as many transitions lead nowhere, they may have been meant to lead to these states.
  if (firsts.length <= countOpenEnds(context)) return [];
  const namingFiles = findNamingFiles(context);
  const seen = new Set<number>();
  return firsts.map((component) => {
    const found = component.slice(0, 1).filter((state) => !seen.has(state) && seen.add(state));
    for (let i = 0; i < found.length; i++) {
      for (const to of successors(found[i] ?? 0)) if (!seen.has(to) && seen.add(to)) found.push(to);
    }
    const [file = '', ...behind] = found.map((state) => proof.flow.names[state] ?? '');
    const message = `nothing leads to ${file} from ${graph.entry}${describeBehind(behind)}`;
    const hint = 'Name it in a tag or in the `allowed_transitions` of a state that is reached, or remove the file.';
    const level = workflow.entryGiven || isNote(file, context) ? 'info' : 'warning';
    const causes = component.flatMap((state) => [...(namingFiles.get(proof.flow.names[state] ?? '') ?? [])]);
    return { file, at: WHOLE_FILE, message, hint, level, causes };
  });
});

/** Leaves out the states that other workflows enter, and those behind them. */
function removeForeignEntries(unreached: Set<number>, entries: readonly number[], successors: Successors): void {
  const found = new Set(entries);
  for (const state of found) for (const next of successors(state)) found.add(next);
  for (const state of found) unreached.delete(state);
}

/** Names of files that people keep beside a workflow. */
const NOTES =
  /^(?:changelog|changes|history|contributing|notes?|todo|licen[cs]e|copying|authors|security|code_of_conduct)\.md$/i;

function isNote(state: string, { analysisOf, isIntendedState }: RuleContext): boolean {
  const analysis = analysisOf.get(state);
  return NOTES.test(state) && analysis !== undefined && !isIntendedState(analysis);
}

function describeBehind(states: readonly string[]): string {
  const [first, second] = states;
  if (first === undefined) return '';
  return second === undefined ? `, nor to ${first} behind it` : `, nor to the ${states.length} states behind it`;
}

type Successors = (state: number) => readonly number[];

/** Finds the transitions among these states; guesses do not count. */
function findSuccessors({ graph, proof }: RuleContext, states: ReadonlySet<number>): Successors {
  const certain = graph.edges.filter(({ origin }) => origin !== 'mentioned');
  const edgesFrom = groupBy(certain, ({ from }) => proof.flow.numberOf(from));
  return (state) => {
    const files = (edgesFrom.get(state) ?? []).flatMap((edge) => targetsOf(edge).flatMap(filesOf));
    return files.map(proof.flow.numberOf).filter((to) => states.has(to));
  };
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
  const ends = graph.edges.flatMap((edge) =>
    targetsOf(edge).flatMap((target) => {
      if (target.kind !== 'missing' || target.meant !== null || !isReached(edge.from)) return [];
      return target.name === '' ? edge.from : target.name;
    }),
  );
  return new Set(ends).size + proof.endless.length;
}

/** A name, with the character before it if that is as in a tag or a policy. */
const NAME = /(?=[\p{L}\p{N}_-])(?<![\p{L}\p{N}_.-])(?<=([>"'=:]\s{0,9})?)[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*/gu;

/** By state, the files that have its file name in them, or its name as tags and policies do. */
function findNamingFiles({ analyses }: RuleContext): ReadonlyMap<string, ReadonlySet<string>> {
  const namingFiles = new Map<string, Set<string>>();
  for (const { file, source, names } of analyses) {
    for (const [word, before] of source.text.matchAll(NAME)) {
      for (const state of names.candidatesFor(word)) {
        if (state !== word && before === undefined) continue;
        namingFiles.set(state, (namingFiles.get(state) ?? new Set()).add(file));
      }
    }
  }
  return namingFiles;
}
