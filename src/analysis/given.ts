import type { Edge } from './graph.ts';
import type { Page } from './page.ts';
import type { Proof } from './proof.ts';
import { leftOut, MOST_STEPS, type Move, movesFrom, type Step, stepOf } from './reach.ts';
import { type Names, namesGiven } from './variables.ts';

/** The variables that are set in a state, whatever way led to it. */
export interface Given {
  /** Whether it is, or may be: where nobody can say what led to a state, some fork must give the name at least. */
  has(state: number, name: string): boolean;
  /** Whether an agent that has it can get to the state. */
  bySome(state: number, name: string): boolean;
  /** Whether some fork is known to give it. */
  somewhere(name: string): boolean;
  /** A way to the state on which the variable is not set. */
  pathWithout(state: number, name: string): readonly Step[];
}

/** Where an agent begins, and what it has from its birth to its end; the first agent has no parent. */
interface Birth {
  readonly state: number;
  readonly has: Names;
  readonly parent: Origin | null;
}

interface Origin {
  readonly from: number;
  readonly move: Move;
}

/** Follows the variables of each fork through the life of its worker. `launch` are those of the whole run. */
export function findGiven(
  proof: Proof,
  pages: ReadonlyMap<string, Page>,
  launch: readonly string[],
  used: ReadonlySet<string>,
): Given {
  const births = birthsOf(proof, pages, new Set(launch), used);
  const sure = settle(proof, births);
  const possible = namesPossible(proof, pages, used);
  const lacks = ({ has }: Birth, name: string): boolean => has !== 'all' && !has.has(name);
  const waysWith = remembering((name) => waysFrom(proof, births, (birth) => !lacks(birth, name)));
  const waysWithout = remembering((name) => waysFrom(proof, births, (birth) => lacks(birth, name)));
  return {
    has(state, name) {
      const names = sure.get(state) ?? 'all';
      return includes(names === 'all' ? possible : names, name) || launch.includes(name);
    },
    bySome: (state, name) => waysWith(name).has(state),
    somewhere: (name) => possible !== 'all' && possible.has(name),
    pathWithout(state, name) {
      const ways = waysWithout(name);
      if (!ways.has(state)) return proof.reach.pathTo(state);
      const steps: Step[] = [];
      for (let at = ways.get(state); at !== undefined; ) {
        if (!('from' in at)) return [...toBirth(proof, at), ...steps.reverse()];
        if (steps.length === MOST_STEPS) return [leftOut(proof.flow, at.move.to), ...steps.reverse()];
        steps.push(stepOf(proof.flow, at.from, at.move));
        at = ways.get(at.from);
      }
      return steps.reverse();
    },
  };
}

function birthsOf(
  { flow, ends, reach }: Proof,
  pages: ReadonlyMap<string, Page>,
  launch: Names,
  used: ReadonlySet<string>,
): readonly Birth[] {
  const first = flow.entry === null ? [] : [{ state: flow.entry, has: launch, parent: null }];
  const parents = [...flow.names.keys()].filter((state) => reach.has(state));
  parents.sort((a, b) => reach.distance(a) - reach.distance(b));
  const workers = parents.flatMap((from) => {
    const page = pages.get(flow.names[from] ?? '');
    const forks = movesFrom(flow, ends, from).filter(({ how, to }) => how === 'worker' && to !== flow.any);
    return forks.map((move) => {
      const { edge } = move.exit;
      // What is only possible proves no mistake.
      const has = edge !== null && isUncertain(edge) ? 'all' : namesGiven(edge, page, used);
      return { state: move.to, has, parent: { from, move } };
    });
  });
  return [...first, ...workers];
}

/** Passes the names on, keeping in each state only those that every way brings along. */
function settle(proof: Proof, births: readonly Birth[]): ReadonlyMap<number, Names> {
  const sure = new Map<number, Names>();
  const queue: number[] = [];
  const meet = (state: number, names: Names): void => {
    const before = sure.get(state);
    const now = before === undefined ? names : common(before, names);
    if (before !== undefined && sizeOf(now) === sizeOf(before)) return;
    sure.set(state, now);
    queue.push(state);
  };
  for (const { state, has } of births) meet(state, has);
  for (let i = 0; i < queue.length; i++) {
    const state = queue[i] ?? 0;
    for (const { to } of movesWithin(proof, state)) meet(to, sure.get(state) ?? 'all');
  }
  return sure;
}

/** Each name is looked into once, however many states ask for it. */
function remembering<T>(work: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const found = known.get(name) ?? work(name);
    known.set(name, found);
    return found;
  };
}

type Ways = ReadonlyMap<number, Origin | Birth>;

/** From every birth that is meant: the states of that agent's life with what led to them first. */
function waysFrom(proof: Proof, births: readonly Birth[], isMeant: (birth: Birth) => boolean): Ways {
  const ways = new Map<number, Origin | Birth>();
  for (const birth of births) if (isMeant(birth) && !ways.has(birth.state)) ways.set(birth.state, birth);
  const queue = [...ways.keys()];
  for (let i = 0; i < queue.length; i++) {
    const from = queue[i] ?? 0;
    for (const move of movesWithin(proof, from)) {
      if (ways.has(move.to)) continue;
      ways.set(move.to, { from, move });
      queue.push(move.to);
    }
  }
  return ways;
}

/** Every name that some fork which can be reached may give to its worker, wherever that one begins. */
function namesPossible({ flow, reach }: Proof, pages: ReadonlyMap<string, Page>, used: ReadonlySet<string>): Names {
  const names = new Set<string>();
  for (const [state, exits] of flow.exits.entries()) {
    const page = pages.get(flow.names[state] ?? '');
    for (const { kind, edge } of reach.has(state) ? exits : []) {
      const given = kind === 'fork' ? namesGiven(edge, page, used) : [];
      if (given === 'all') return 'all';
      for (const name of given) names.add(name);
    }
  }
  return names;
}

/** The moves of one and the same agent, as far as something says them: what is only possible proves no mistake. */
const movesWithin = ({ flow, ends }: Proof, state: number): readonly Move[] =>
  movesFrom(flow, ends, state).filter(({ how, to, exit }) => {
    return how !== 'worker' && to !== flow.any && exit.edge !== null && !isUncertain(exit.edge);
  });

const isUncertain = ({ origin }: Edge): boolean => origin === 'guess' || origin === 'part';

function toBirth({ flow, reach }: Proof, { parent }: Birth): readonly Step[] {
  return parent === null ? [] : [...reach.pathTo(parent.from), stepOf(flow, parent.from, parent.move)];
}

function common(a: Names, b: Names): Names {
  if (a === 'all') return b;
  return b === 'all' ? a : new Set([...a].filter((name) => b.has(name)));
}

const includes = (names: Names, name: string): boolean => names === 'all' || names.has(name);

const sizeOf = (names: Names): number => (names === 'all' ? Number.POSITIVE_INFINITY : names.size);
