import type { ControlFlow } from './control-flow.ts';
import { findShortestCycle, findWidestCycle, type MoveLookup } from './cycle-search.ts';
import {
  type FlowMove,
  findMoves,
  type PathStep,
  type Reachability,
  type StackLevel,
  toPathStep,
} from './reachability.ts';
import { findStronglyConnected, hasCycle } from './strongly-connected.ts';
import { findTermination, type TerminationFacts } from './termination.ts';

/** A ring that an agent, or a family of agents, can get into and never out of again. */
export interface EndlessCycle {
  /** It only goes round, it calls deeper and deeper, or it forks again and again. */
  readonly kind: 'loop' | 'recursion' | 'forks' | 'generations';
  readonly states: readonly number[];
  /** Whether `max_visits` stops it. */
  readonly bounded: boolean;
  /** Whether there is only a way into it by a call; then the call never returns. */
  readonly level: StackLevel;
  /** A shortest way to it, and one round. */
  readonly path: readonly PathStep[];
  readonly round: readonly PathStep[];
}

/** The rings that nothing leads out of. What only leads to such a ring is not listed: it is not to blame. */
export function findEndlessCycles(
  flow: ControlFlow,
  ends: TerminationFacts,
  reach: Reachability,
): readonly EndlessCycle[] {
  const cannotEnd = [...flow.names.keys()].filter((state) => !ends.ends[state] && reach.has(state));
  // A callee that can return is not to blame: what matters is where the call comes back to.
  const moves = (state: number) =>
    findMoves(flow, ends, state).filter(({ how, to }) => how !== 'worker' && !(how === 'enter' && ends.returns[to]));
  return findSinkCycles(cannotEnd, moves).map(({ states, inside }): EndlessCycle => {
    const free = states.filter((state) => !flow.bounded[state]);
    const sideways = (state: number) => inside(state).filter(({ how }) => how !== 'enter');
    const forks = states.some((state) => inside(state).some(({ how }) => how === 'next'));
    const kind = !hasCycle(states, targets(sideways)) ? 'recursion' : forks ? 'forks' : 'loop';
    const how = kind === 'recursion' ? 'enter' : kind === 'forks' ? 'next' : undefined;
    const level = states.some((state) => reach.has(state, 'bottom')) ? 'bottom' : 'called';
    const begin = kind === 'loop' ? level : undefined;
    const unbounded = (state: number) => inside(state).filter((move) => !isBounded(flow, move));
    return {
      kind,
      states,
      bounded: !hasCycle(free, targets(unbounded)),
      level,
      ...exampleOf(states, inside, how, begin),
    };
  });

  function exampleOf(
    states: readonly number[],
    inside: MoveLookup,
    how: FlowMove['how'] | undefined,
    level: StackLevel | undefined,
  ) {
    const round = findExampleCycle(flow, states, inside, reach, how, level);
    return { round, path: reach.pathTo(flow.numberOf(round[0]?.from ?? ''), level) };
  }
}

/** Whether there can be only so many of a move: each of them comes after a call of a state that has a limit. */
const isBounded = (flow: ControlFlow, { how, exit }: FlowMove): boolean =>
  how === 'back' && flow.bounded[exit.to] === true;

/** Workers that cannot end without forking workers of which the same is true. `max_visits` counts anew in each. */
export function findEndlessForking(
  flow: ControlFlow,
  ends: TerminationFacts,
  reach: Reachability,
): readonly EndlessCycle[] {
  const families = findTermination(flow, (worker) => !ends.ends[worker]);
  const suspects = [...flow.names.keys()].filter(
    (state) => ends.ends[state] && !families.ends[state] && reach.has(state),
  );
  const within = new Set(suspects);
  const moves = (state: number) => findMoves(flow, ends, state).filter(({ to }) => within.has(to));
  return findSinkCycles(suspects, moves).flatMap(({ states, inside }) => {
    const forks = states.some((state) => inside(state).some(({ how }) => how === 'worker'));
    if (!forks) return [];
    const round = findExampleCycle(flow, states, inside, reach, 'worker', undefined);
    const path = reach.pathTo(flow.numberOf(round[0]?.from ?? ''));
    return [{ kind: 'generations', states, bounded: false, level: 'bottom', path, round }];
  });
}

/** A call that never comes back because its callee empties the return stack. */
export interface AbandonedCall {
  readonly caller: number;
  readonly callee: number;
  /** The state that does it. */
  readonly by: number;
  readonly path: readonly PathStep[];
}

/** Each such call once; what calls the caller is not to blame. */
export function findAbandonedCalls(
  flow: ControlFlow,
  ends: TerminationFacts,
  reach: Reachability,
): readonly AbandonedCall[] {
  const seen = new Set<number>();
  const callers = [...flow.names.keys()].filter((state) => reach.has(state));
  callers.sort((a, b) => reach.distance(a) - reach.distance(b));
  return callers.flatMap((caller) =>
    findMoves(flow, ends, caller).flatMap((move) => {
      if (move.how !== 'enter' || ends.returns[move.to] || !ends.ends[move.to] || seen.has(move.to)) return [];
      const by = findClearingState(flow, ends, move.to, seen);
      if (by === undefined) return [];
      return [{ caller, callee: move.to, by, path: [...reach.pathTo(caller), toPathStep(flow, caller, move)] }];
    }),
  );
}

/** The state nearest to a callee that clears the stack at the callee's own level. */
function findClearingState(
  flow: ControlFlow,
  ends: TerminationFacts,
  callee: number,
  seen: Set<number>,
): number | undefined {
  const queue = [callee];
  seen.add(callee);
  for (let i = 0; i < queue.length; i++) {
    const state = queue[i] ?? 0;
    if (flow.exits[state]?.some((exit) => exit.kind === 'step' && exit.clears)) return state;
    for (const { to, how } of findMoves(flow, ends, state)) {
      if (how === 'enter' || how === 'worker' || seen.has(to)) continue;
      seen.add(to);
      queue.push(to);
    }
  }
  return undefined;
}

const targets = (moves: MoveLookup) => (state: number) => moves(state).map(({ to }) => to);

/** The components that are rings and lead nowhere else. */
function findSinkCycles(states: readonly number[], moves: MoveLookup) {
  return findStronglyConnected(states, targets(moves)).flatMap((component) => {
    const within = new Set(component);
    const all = component.flatMap(moves);
    if (all.length === 0 || all.some(({ to }) => !within.has(to))) return [];
    return [{ states: component, inside: (state: number) => (within.has(state) ? moves(state) : []) }];
  });
}

/** A round through the nearest state that can begin it with such a move; where any move will do, a wide one. */
function findExampleCycle(
  flow: ControlFlow,
  states: readonly number[],
  inside: MoveLookup,
  reach: Reachability,
  how: FlowMove['how'] | undefined,
  level: StackLevel | undefined,
): readonly PathStep[] {
  const begins = (move: FlowMove): boolean => how === undefined || move.how === how;
  const firsts = states.filter((state) => state !== flow.any && inside(state).some(begins));
  firsts.sort((a, b) => reach.distance(a, level) - reach.distance(b, level) || a - b);
  const [start = 0] = firsts;
  return how === undefined ? findWidestCycle(flow, inside, start) : findShortestCycle(flow, inside, start, begins);
}
