import type { ControlFlow } from './control-flow.ts';
import {
  type FlowMove,
  findReachability,
  type MoveLookup,
  type PathStep,
  type Reachability,
  type StackLevel,
  toPathStep,
} from './reachability.ts';
import { findStronglyConnected, hasCycle } from './strongly-connected.ts';
import { findTermination, type TerminationFacts } from './termination.ts';

/** The control flow of a workflow, as input for the search for cycles. */
export interface FlowFacts {
  readonly flow: ControlFlow;
  readonly ends: TerminationFacts;
  /** The moves that an agent can make, where only calls that can return do so. */
  readonly moves: MoveLookup;
  readonly reach: Reachability;
}

/** A cycle of states that an agent, or an agent and its workers, can get into and never out of again. */
export interface EndlessCycle {
  /** It repeats itself, calls deeper and deeper, forks in each round, or consists of workers that fork their like. */
  readonly kind: 'loop' | 'recursion' | 'forks' | 'generations';
  readonly states: readonly number[];
  /** True if `max_visits` stops it. */
  readonly bounded: boolean;
  /** `called` if it can only be entered by a call, which then never returns. */
  readonly level: StackLevel;
  /** A shortest path to it, and one round. */
  readonly path: readonly PathStep[];
  readonly round: readonly PathStep[];
}

/** Finds the cycles that nothing leads out of. States that only lead to such a cycle are not listed: they are not the mistake. */
export function findEndlessCycles(facts: FlowFacts): readonly EndlessCycle[] {
  const { flow, ends, reach } = facts;
  const cannotEnd = [...flow.names.keys()].filter((state) => !ends.ends[state] && reach.has(state));
  // A callee that can return is not the mistake: what matters is where the call comes back to.
  const moves = (state: number) =>
    facts.moves(state).filter(({ how, to }) => how !== 'worker' && !(how === 'enter' && ends.returns[to]));
  return findSinkCycles(cannotEnd, moves).map(({ states, inside }): EndlessCycle => {
    const sideways = (state: number) => inside(state).filter(({ how }) => how !== 'enter');
    const forks = states.some((state) => inside(state).some(({ how }) => how === 'next'));
    const kind = !hasCycle(states, targets(sideways)) ? 'recursion' : forks ? 'forks' : 'loop';
    const how = kind === 'recursion' ? 'enter' : kind === 'forks' ? 'next' : undefined;
    const level = states.some((state) => reach.has(state, 'bottom')) ? 'bottom' : 'called';
    const fresh = new Set(
      states.flatMap((state) => inside(state).flatMap(({ how, to }) => (how === 'enter' ? to : []))),
    );
    const bounded = !hasCycle(states, targets(findUnboundedMoves(flow, inside, fresh)));
    return {
      kind,
      states,
      bounded,
      level,
      ...findExample(facts, states, inside, how, kind === 'loop' ? level : undefined),
    };
  });
}

/**
 * Finds the moves that an agent can make as often as it likes. Past its `max_visits` a state leads only to where its guard says; a
 * limit that counts per call does not hold for `fresh` states, which each call enters anew.
 */
function findUnboundedMoves(flow: ControlFlow, inside: MoveLookup, fresh: ReadonlySet<number>): MoveLookup {
  const isBounded = (state: number): boolean => {
    const per = flow.bounded[state] ?? null;
    return per === 'agent' || (per === 'call' && !fresh.has(state));
  };
  const leadsPast = (state: number): boolean =>
    flow.exits[state]?.some(({ edge }) => edge?.guard === 'max_visits') ?? false;
  const isAfterBoundedCall = ({ how, exit }: FlowMove): boolean =>
    how === 'back' && flow.bounded[exit.to] === 'agent' && !leadsPast(exit.to);
  return (state) =>
    inside(state).filter((move) =>
      isBounded(state) ? move.exit.edge?.guard === 'max_visits' : !isAfterBoundedCall(move),
    );
}

/** Finds workers that cannot end without forking workers like themselves. `max_visits` does not help: it counts per worker. */
export function findEndlessForking(facts: FlowFacts): readonly EndlessCycle[] {
  const { flow, ends, reach } = facts;
  const families = findTermination(flow, (worker) => !ends.ends[worker]);
  const suspects = [...flow.names.keys()].filter(
    (state) => ends.ends[state] && !families.ends[state] && reach.has(state),
  );
  const within = new Set(suspects);
  const moves = (state: number) => facts.moves(state).filter(({ to }) => within.has(to));
  return findSinkCycles(suspects, moves).flatMap(({ states, inside }) => {
    const forks = states.some((state) => inside(state).some(({ how }) => how === 'worker'));
    if (!forks) return [];
    const example = findExample(facts, states, inside, 'worker', undefined);
    return [{ kind: 'generations', states, bounded: false, level: 'bottom', ...example }];
  });
}

/** A call that never comes back because its callee empties the return stack. */
export interface AbandonedCall {
  readonly callee: number;
  /** The state that empties the stack. */
  readonly by: number;
  readonly path: readonly PathStep[];
}

/** Finds the calls whose callee empties the return stack, each once; the callers of the caller are not the mistake. */
export function findAbandonedCalls(facts: FlowFacts): readonly AbandonedCall[] {
  const { flow, ends, moves, reach } = facts;
  const seen = new Set<number>();
  const callers = [...flow.names.keys()].filter((state) => reach.has(state));
  callers.sort((a, b) => reach.distance(a) - reach.distance(b));
  return callers.flatMap((caller) =>
    moves(caller).flatMap((move) => {
      if (move.how !== 'enter' || ends.returns[move.to] || !ends.ends[move.to] || seen.has(move.to)) return [];
      const by = findClearingState(facts, move.to, seen);
      if (by === undefined) return [];
      return [{ callee: move.to, by, path: [...reach.pathTo(caller), toPathStep(flow, caller, move)] }];
    }),
  );
}

/** Finds the state nearest to a callee that clears the stack at the callee's own level. */
function findClearingState({ flow, moves }: FlowFacts, callee: number, seen: Set<number>): number | undefined {
  // Iterating over a set also visits what is added meanwhile.
  const found = new Set([callee]);
  for (const state of found) {
    seen.add(state);
    if (flow.exits[state]?.some((exit) => exit.kind === 'step' && exit.clearsStack)) return state;
    for (const { to, how } of moves(state)) if (how !== 'enter' && how !== 'worker' && !seen.has(to)) found.add(to);
  }
  return undefined;
}

const targets = (moves: MoveLookup) => (state: number) => moves(state).map(({ to }) => to);

/** Finds the strongly connected components that are cycles and lead nowhere else. */
function findSinkCycles(states: readonly number[], moves: MoveLookup) {
  return findStronglyConnected(states, targets(moves)).flatMap((component) => {
    const within = new Set(component);
    const all = component.flatMap(moves);
    if (all.length === 0 || all.some(({ to }) => !within.has(to))) return [];
    return [{ states: component, inside: (state: number) => (within.has(state) ? moves(state) : []) }];
  });
}

/** Finds a round that begins with such a move at the state nearest to the entry, and a path there. */
function findExample(
  { flow, reach }: FlowFacts,
  states: readonly number[],
  inside: MoveLookup,
  how: FlowMove['how'] | undefined,
  level: StackLevel | undefined,
): Pick<EndlessCycle, 'path' | 'round'> {
  const begins = (move: FlowMove): boolean => how === undefined || move.how === how;
  const firsts = states.filter((state) => state !== flow.any && inside(state).some(begins));
  firsts.sort((a, b) => reach.distance(a, level) - reach.distance(b, level) || a - b);
  const [start = 0] = firsts;
  const movesFrom = (state: number) => (state === start ? inside(state).filter(begins) : inside(state));
  const around = findReachability(flow, movesFrom, [start]);
  const leadsBack = (state: number): boolean => movesFrom(state).some(({ to }) => to === start);
  const lasts = states.filter((state) => around.has(state) && leadsBack(state));
  lasts.sort((a, b) => around.distance(a) - around.distance(b));
  // Where any move will do, a long round shows more.
  const last = (how === undefined ? lasts.at(-1) : lasts[0]) ?? start;
  const back = movesFrom(last)
    .filter(({ to }) => to === start)
    .slice(0, 1)
    .map((move) => toPathStep(flow, last, move));
  return { round: [...around.pathTo(last, undefined, states.length), ...back], path: reach.pathTo(start, level) };
}
