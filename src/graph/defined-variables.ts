import type { Edge } from './graph.ts';
import type { Proof } from './proof.ts';
import { type FlowMove, findMoves, MAX_PATH_STEPS, type PathStep, toOmittedStep, toPathStep } from './reachability.ts';
import type { StateAnalysis } from './state-analysis.ts';
import { findForkVariables, type VariableSet } from './variables.ts';

/** Answers which variables are set in a state on every path. */
export interface DefinedVariables {
  /** Whether the variable is set on every path to the state; where that is not known, whether some fork sets it at all. */
  has(state: number, name: string): boolean;
  /** Whether an agent that has the variable can get to the state. */
  isDefinedOnSomePath(state: number, name: string): boolean;
  /** Whether some fork is known to set the variable. */
  isDefinedSomewhere(name: string): boolean;
  /** A path to the state on which the variable is not set. */
  pathWithout(state: number, name: string): readonly PathStep[];
}

/** The first state of an agent, and the variables that it has until it ends; the first agent has no parent. */
interface AgentStart {
  readonly state: number;
  readonly has: VariableSet;
  readonly parent: Origin | null;
}

interface Origin {
  readonly from: number;
  readonly move: FlowMove;
}

/** Follows the variables of each fork until its worker ends. `runVariables` are those that every agent has. */
export function findDefinedVariables(
  proof: Proof,
  analyses: ReadonlyMap<string, StateAnalysis>,
  runVariables: readonly string[],
  used: ReadonlySet<string>,
): DefinedVariables {
  const starts = findAgentStarts(proof, analyses, new Set(runVariables), used);
  const possible = findPossibleNames(proof, analyses, used);
  const lacks = ({ has }: AgentStart, name: string): boolean => has !== 'all' && !has.has(name);
  const pathsOf = (isLacking: boolean) =>
    memoizeByName((name) =>
      findPathsFrom(
        proof,
        starts.filter((start) => lacks(start, name) === isLacking),
      ),
    );
  const [pathsWith, pathsWithout] = [pathsOf(false), pathsOf(true)];
  return {
    has: (state, name) =>
      runVariables.includes(name) || ((possible === 'all' || possible.has(name)) && !pathsWithout(name).has(state)),
    isDefinedOnSomePath: (state, name) => pathsWith(name).has(state),
    isDefinedSomewhere: (name) => possible !== 'all' && possible.has(name),
    pathWithout: (state, name) => pathTo(proof, pathsWithout(name), state),
  };
}

function findAgentStarts(
  { flow, ends, reach }: Proof,
  analyses: ReadonlyMap<string, StateAnalysis>,
  runVariables: VariableSet,
  used: ReadonlySet<string>,
): readonly AgentStart[] {
  const first = flow.entry === null ? [] : [{ state: flow.entry, has: runVariables, parent: null }];
  const parents = [...flow.names.keys()].filter((state) => reach.has(state));
  parents.sort((a, b) => reach.distance(a) - reach.distance(b));
  const workers = parents.flatMap((from) => {
    const analysis = analyses.get(flow.names[from] ?? '');
    const forks = findMoves(flow, ends, from).filter(({ how, to }) => how === 'worker' && to !== flow.any);
    return forks.map((move) => {
      const { edge } = move.exit;
      // A fork that is only possible proves no mistake.
      const has = edge !== null && isUncertain(edge) ? 'all' : findForkVariables(edge, analysis, used);
      return { state: move.to, has, parent: { from, move } };
    });
  });
  return [...first, ...workers];
}

/** Caches results by name. */
function memoizeByName<T>(work: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const found = known.get(name) ?? work(name);
    known.set(name, found);
    return found;
  };
}

type PathOrigins = ReadonlyMap<number, Origin | AgentStart>;

/** All states that the agents of these starts come to, each with what led to it first. */
function findPathsFrom(proof: Proof, starts: readonly AgentStart[]): PathOrigins {
  const paths = new Map<number, Origin | AgentStart>();
  for (const start of starts) if (!paths.has(start.state)) paths.set(start.state, start);
  for (const from of paths.keys()) {
    for (const move of findOwnMoves(proof, from)) if (!paths.has(move.to)) paths.set(move.to, { from, move });
  }
  return paths;
}

function pathTo(proof: Proof, paths: PathOrigins, state: number): readonly PathStep[] {
  if (!paths.has(state)) return proof.reach.pathTo(state);
  const steps: PathStep[] = [];
  for (let at = paths.get(state); at !== undefined; ) {
    if (!('from' in at)) return [...pathToStart(proof, at), ...steps.reverse()];
    if (steps.length === MAX_PATH_STEPS) return [toOmittedStep(proof.flow, at.move.to), ...steps.reverse()];
    steps.push(toPathStep(proof.flow, at.from, at.move));
    at = paths.get(at.from);
  }
  return steps.reverse();
}

function pathToStart({ flow, reach }: Proof, { parent }: AgentStart): readonly PathStep[] {
  return parent === null ? [] : [...reach.pathTo(parent.from), toPathStep(flow, parent.from, parent.move)];
}

/** Every variable that a reachable fork may set for its worker. */
function findPossibleNames(
  { flow, reach }: Proof,
  analyses: ReadonlyMap<string, StateAnalysis>,
  used: ReadonlySet<string>,
): VariableSet {
  const names = new Set<string>();
  for (const [state, exits] of flow.exits.entries()) {
    const analysis = analyses.get(flow.names[state] ?? '');
    for (const { kind, edge } of reach.has(state) ? exits : []) {
      const forkVariables = kind === 'fork' ? findForkVariables(edge, analysis, used) : [];
      if (forkVariables === 'all') return 'all';
      for (const name of forkVariables) names.add(name);
    }
  }
  return names;
}

/** The moves of one and the same agent that are certain: a move that is only possible proves no mistake. */
const findOwnMoves = ({ flow, ends }: Proof, state: number): readonly FlowMove[] =>
  findMoves(flow, ends, state).filter(
    ({ how, to, exit }) => how !== 'worker' && to !== flow.any && exit.edge !== null && !isUncertain(exit.edge),
  );

const isUncertain = ({ origin }: Edge): boolean => origin === 'mentioned' || origin === 'partial-name';
