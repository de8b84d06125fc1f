import type { Edge } from './graph.ts';
import type { Proof } from './proof.ts';
import { type FlowMove, findMoves, MAX_PATH_STEPS, type PathStep, toOmittedStep, toPathStep } from './reachability.ts';
import type { StateAnalysis } from './state-analysis.ts';
import { findForkVariables, type VariableSet } from './variables.ts';

/** The variables that are set in a state, whatever way led to it. */
export interface DefinedVariables {
  /** Whether it is, or may be: where nobody can say what led to a state, some fork must give the name at least. */
  has(state: number, name: string): boolean;
  /** Whether an agent that has it can get to the state. */
  isDefinedOnSomePath(state: number, name: string): boolean;
  /** Whether some fork is known to give it. */
  isDefinedSomewhere(name: string): boolean;
  /** A way to the state on which the variable is not set. */
  pathWithout(state: number, name: string): readonly PathStep[];
}

/** Where an agent begins, and what it has from its birth to its end; the first agent has no parent. */
interface AgentStart {
  readonly state: number;
  readonly has: VariableSet;
  readonly parent: Origin | null;
}

interface Origin {
  readonly from: number;
  readonly move: FlowMove;
}

/** Follows the variables of each fork through the life of its worker. `launch` are those of the whole run. */
export function findDefinedVariables(
  proof: Proof,
  analyses: ReadonlyMap<string, StateAnalysis>,
  runVariables: readonly string[],
  used: ReadonlySet<string>,
): DefinedVariables {
  const starts = findAgentStarts(proof, analyses, new Set(runVariables), used);
  const sure = propagateNames(proof, starts);
  const possible = findPossibleNames(proof, analyses, used);
  const lacks = ({ has }: AgentStart, name: string): boolean => has !== 'all' && !has.has(name);
  const pathsWith = memoizeByName((name) => findPathsFrom(proof, starts, (start) => !lacks(start, name)));
  const pathsWithout = memoizeByName((name) => findPathsFrom(proof, starts, (start) => lacks(start, name)));
  return {
    has(state, name) {
      const names = sure.get(state) ?? 'all';
      return includes(names === 'all' ? possible : names, name) || runVariables.includes(name);
    },
    isDefinedOnSomePath: (state, name) => pathsWith(name).has(state),
    isDefinedSomewhere: (name) => possible !== 'all' && possible.has(name),
    pathWithout(state, name) {
      const paths = pathsWithout(name);
      if (!paths.has(state)) return proof.reach.pathTo(state);
      const steps: PathStep[] = [];
      for (let at = paths.get(state); at !== undefined; ) {
        if (!('from' in at)) return [...pathToStart(proof, at), ...steps.reverse()];
        if (steps.length === MAX_PATH_STEPS) return [toOmittedStep(proof.flow, at.move.to), ...steps.reverse()];
        steps.push(toPathStep(proof.flow, at.from, at.move));
        at = paths.get(at.from);
      }
      return steps.reverse();
    },
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
      // What is only possible proves no mistake.
      const has = edge !== null && isUncertain(edge) ? 'all' : findForkVariables(edge, analysis, used);
      return { state: move.to, has, parent: { from, move } };
    });
  });
  return [...first, ...workers];
}

/** Passes the names on, keeping in each state only those that every way brings along. */
function propagateNames(proof: Proof, starts: readonly AgentStart[]): ReadonlyMap<number, VariableSet> {
  const sure = new Map<number, VariableSet>();
  const queue: number[] = [];
  const meet = (state: number, names: VariableSet): void => {
    const before = sure.get(state);
    const now = before === undefined ? names : intersect(before, names);
    if (before !== undefined && sizeOf(now) === sizeOf(before)) return;
    sure.set(state, now);
    queue.push(state);
  };
  for (const { state, has } of starts) meet(state, has);
  for (let i = 0; i < queue.length; i++) {
    const state = queue[i] ?? 0;
    for (const { to } of findOwnMoves(proof, state)) meet(to, sure.get(state) ?? 'all');
  }
  return sure;
}

/** Each name is looked into once, however many states ask for it. */
function memoizeByName<T>(work: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const found = known.get(name) ?? work(name);
    known.set(name, found);
    return found;
  };
}

type PathOrigins = ReadonlyMap<number, Origin | AgentStart>;

/** From every birth that is meant: the states of that agent's life with what led to them first. */
function findPathsFrom(
  proof: Proof,
  starts: readonly AgentStart[],
  isSelected: (start: AgentStart) => boolean,
): PathOrigins {
  const paths = new Map<number, Origin | AgentStart>();
  for (const start of starts) if (isSelected(start) && !paths.has(start.state)) paths.set(start.state, start);
  const queue = [...paths.keys()];
  for (let i = 0; i < queue.length; i++) {
    const from = queue[i] ?? 0;
    for (const move of findOwnMoves(proof, from)) {
      if (paths.has(move.to)) continue;
      paths.set(move.to, { from, move });
      queue.push(move.to);
    }
  }
  return paths;
}

/** Every name that some fork which can be reached may give to its worker, wherever that one begins. */
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

/** The moves of one and the same agent, as far as something says them: what is only possible proves no mistake. */
const findOwnMoves = ({ flow, ends }: Proof, state: number): readonly FlowMove[] =>
  findMoves(flow, ends, state).filter(({ how, to, exit }) => {
    return how !== 'worker' && to !== flow.any && exit.edge !== null && !isUncertain(exit.edge);
  });

const isUncertain = ({ origin }: Edge): boolean => origin === 'guess' || origin === 'part';

function pathToStart({ flow, reach }: Proof, { parent }: AgentStart): readonly PathStep[] {
  return parent === null ? [] : [...reach.pathTo(parent.from), toPathStep(flow, parent.from, parent.move)];
}

function intersect(a: VariableSet, b: VariableSet): VariableSet {
  if (a === 'all') return b;
  return b === 'all' ? a : new Set([...a].filter((name) => b.has(name)));
}

const includes = (names: VariableSet, name: string): boolean => names === 'all' || names.has(name);

const sizeOf = (names: VariableSet): number => (names === 'all' ? Number.POSITIVE_INFINITY : names.size);
