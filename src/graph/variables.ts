import { stripTags, UNKNOWN } from '../language/tags/tag-mentions.ts';
import { memoizeByName } from '../language/text/memoize.ts';
import { isResultPath } from '../language/text/template.ts';
import type { Edge } from './graph.ts';
import { findLiteralWords } from './prompt-tags.ts';
import type { Proof } from './proof.ts';
import { type FlowMove, findReachability, type PathStep, toPathStep } from './reachability.ts';
import type { StateAnalysis } from './state-analysis.ts';

/** A `{{name}}` in a prompt. */
export interface VariableUse {
  readonly name: string;
  /** Its offset in the prompt. */
  readonly offset: number;
}

/** Finds the variables of a prompt, in order; `\\{{…}}` and `${{…}}` are none. */
export function findVariableUses(prompt: string): readonly VariableUse[] {
  if (!prompt.includes('{{')) return [];
  const found = [...prompt.matchAll(/(?<![\\$])\{\{\s*([\p{L}_][\p{L}\p{N}_-]*)\s*\}\}/gu)];
  return found.map(({ index, 1: name = '' }) => ({ name, offset: index }));
}

/** Finds the uses of a part of a result in a prompt, such as `{{result.items.0}}`, in order. */
export function findResultPathUses(prompt: string): readonly VariableUse[] {
  const found = [...prompt.matchAll(/(?<![\\$])\{\{\s*([^\s{}]+)\s*\}\}/g)];
  return found.flatMap(({ index, 1: name = '' }) => (isResultPath(name) ? { name, offset: index } : []));
}

/** Finds the states in which `{{result}}` can be set: by an input, by a call that came back, or by the command line. */
export function findStatesWithResult({ flow, moves, reach }: Proof): ReadonlySet<number> {
  const withResult = new Set(flow.entry === null ? flow.names.keys() : [flow.entry]);
  for (const state of flow.names.keys()) {
    if (!reach.has(state) || state === flow.any) continue;
    for (const move of moves(state)) if (mayHandOver(move)) withResult.add(move.to);
  }
  return withResult.has(flow.any) ? new Set(flow.names.keys()) : withResult;
}

/** True if a move may hand a `{{result}}` over. */
export const mayHandOver = ({ how, exit }: FlowMove): boolean =>
  how === 'back' || (how !== 'next' && (exit.edge === null || exit.edge.passesInput !== 'never'));

/** Finds a path to a state whose last step surely can be made and is one of these; empty if there is none. */
export function findArrival(proof: Proof, state: number, isSelected: (move: FlowMove) => boolean): readonly PathStep[] {
  const { flow, moves, reach } = proof;
  const before = [...flow.names.keys()].filter((from) => reach.has(from) && from !== flow.any);
  before.sort((a, b) => reach.distance(a) - reach.distance(b));
  for (const from of before) {
    const arrivals = moves(from).filter((each) => each.to === state);
    const move = arrivals.find((each) => isCertain(each, proof) && isOwnArrival(each, arrivals) && isSelected(each));
    if (move !== undefined) return [...reach.pathTo(from), toPathStep(flow, from, move)];
  }
  return [];
}

/**
 * True if a move is made by itself: a tag beside a fork may take the parent to the same state, and what an evaluator does the
 * agent may leave to it.
 */
function isOwnArrival({ how, exit: { edge } }: FlowMove, arrivals: readonly FlowMove[]): boolean {
  if (edge === null) return false;
  if (how === 'next')
    return !edge.borrowsNext && !arrivals.some((other) => other.how === 'step' && other.exit.edge?.evaluator === null);
  return (
    edge.origin !== 'policy' || edge.evaluator !== null || !arrivals.some(({ exit }) => exit.edge?.evaluator != null)
  );
}

/** The names of some variables, or all that there could be. */
type VariableSet = ReadonlySet<string> | 'all';

/** Finds the variables, out of the `used` ones, that a fork gives to its worker; a prompt may also name them beside the tag. */
function findForkVariables(
  edge: Edge | null,
  analysis: StateAnalysis | undefined,
  used: ReadonlySet<string>,
): VariableSet {
  if (edge === null || edge.variables.some((name) => name.includes(UNKNOWN))) return 'all';
  // Attributes of another tag of the prompt need not apply to this one.
  const literalWords = analysis?.kind === 'prompt' ? findLiteralWords(stripTags(analysis.source.state.text)) : [];
  return new Set([...edge.variables, ...literalWords].filter((name) => used.has(name)));
}

/** Answers which variables are set in a state on every path. */
export interface DefinedVariables {
  /** True if the variable is set on every path to the state; where that is not known, whether some fork sets it at all. */
  has(state: number, name: string): boolean;
  /** True if some fork is known to set the variable. */
  isDefinedSomewhere(name: string): boolean;
  /** A path to the state on which the variable is not set. */
  pathWithout(state: number, name: string): readonly PathStep[];
}

/** A fork, and the variables that it gives to its worker until that ends. */
interface ForkMove {
  readonly from: number;
  readonly move: FlowMove;
  readonly gives: VariableSet;
}

/** Follows the variables of each fork until its worker ends. `runVariables` are those that every agent has. */
export function findDefinedVariables(
  proof: Proof,
  analyses: ReadonlyMap<string, StateAnalysis>,
  runVariables: readonly string[],
  used: ReadonlySet<string>,
): DefinedVariables {
  const { flow, reach } = proof;
  const forks = findForks(proof, analyses, used);
  const givesAnything = forks.some(({ gives }) => gives === 'all');
  const given = new Set(forks.flatMap(({ gives }) => (gives === 'all' ? [] : [...gives])));
  const pathsWithout = memoizeByName((name) => {
    const lacking = forks.filter(({ move, gives }) => isCertain(move, proof) && gives !== 'all' && !gives.has(name));
    const starts = [...(flow.entry === null ? [] : [flow.entry]), ...lacking.map(({ move }) => move.to)];
    return { lacking, reach: findReachability(flow, (state) => findOwnMoves(proof, state), starts) };
  });
  return {
    has: (state, name) =>
      runVariables.includes(name) || ((givesAnything || given.has(name)) && !pathsWithout(name).reach.has(state)),
    isDefinedSomewhere: (name) => givesAnything || given.has(name),
    pathWithout: (state, name) => {
      const without = pathsWithout(name);
      if (!without.reach.has(state)) return reach.pathTo(state);
      const steps = without.reach.pathTo(state);
      const start = steps[0] === undefined ? state : flow.numberOf(steps[0].from);
      const fork = start === flow.entry ? undefined : without.lacking.find(({ move }) => move.to === start);
      if (steps[0]?.how === 'more' || fork === undefined) return steps;
      return [...reach.pathTo(fork.from), toPathStep(flow, fork.from, fork.move), ...steps];
    },
  };
}

/** The forks that can be reached, those nearest to the entry first. */
function findForks(
  { flow, moves, reach }: Proof,
  analyses: ReadonlyMap<string, StateAnalysis>,
  used: ReadonlySet<string>,
): readonly ForkMove[] {
  const parents = [...flow.names.keys()].filter((state) => reach.has(state));
  parents.sort((a, b) => reach.distance(a) - reach.distance(b));
  return parents.flatMap((from) => {
    const forks = moves(from).filter(({ how }) => how === 'worker');
    const analysis = forks.length === 0 ? undefined : analyses.get(flow.names[from] ?? '');
    return forks.map((move) => ({ from, move, gives: findForkVariables(move.exit.edge, analysis, used) }));
  });
}

/** The moves of one and the same agent that are certain. */
const findOwnMoves = (proof: Proof, state: number): readonly FlowMove[] =>
  proof.moves(state).filter((move) => move.how !== 'worker' && isCertain(move, proof));

/** True if a move can surely be made: one that is only possible proves no mistake. */
const isCertain = ({ to, exit: { edge } }: FlowMove, { flow }: Proof): boolean =>
  to !== flow.any && edge !== null && edge.origin !== 'mentioned' && edge.origin !== 'partial-name';
