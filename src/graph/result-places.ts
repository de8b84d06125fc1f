import type { ControlFlow } from './control-flow.ts';
import type { FlowFacts } from './endless-cycles.ts';
import { findReachability, type MoveLookup, type Reachability } from './reachability.ts';

/** Where the result of a state leads. */
export interface ResultPlaces {
  /** The states in which a caller continues. */
  readonly returnsTo: readonly string[];
  /** True if it also returns to places that are not known, or are too many. */
  readonly returnsElsewhere: boolean;
  /** True if it can end the agent. */
  readonly ends: boolean;
}

/** More places to return to than these are only counted: a subtask that everybody calls would have arrows everywhere. */
const MAX_PLACES = 4;

/**
 * Finds where the results of states lead. What the entry does not reach is looked at by itself: there, agents start in the
 * states that nothing leads to.
 */
export function findResultPlaces({ flow, moves, reach }: FlowFacts): (state: string) => ResultPlaces {
  // The last two names stand for missing states and for any state.
  const states = [...flow.names.keys()].slice(0, -2);
  const isState = (place: number): boolean => place < states.length;
  const unreached = states.filter((state) => !reach.has(state));
  const reachedPlaces = collectPlaces(
    flow,
    moves,
    states.filter((state) => reach.has(state)),
  );
  const otherPlaces = collectPlaces(flow, moves, unreached);
  const otherReach = reachFromRoots(flow, moves, unreached);
  return (name) => {
    const state = flow.numberOf(name);
    const isReached = reach.has(state);
    const places = [...((isReached ? reachedPlaces : otherPlaces).get(state) ?? [])];
    const known = places.filter(isState);
    const isTooMany = places.length > MAX_PLACES;
    return {
      returnsTo: isTooMany ? [] : known.map((place) => flow.names[place] ?? ''),
      returnsElsewhere: isTooMany || known.length < places.length,
      ends: (isReached ? reach : otherReach).has(state, 'bottom'),
    };
  };
}

/** Collects for each state the places to which a call returns that the state may be part of, and one more than the limit. */
function collectPlaces(
  flow: ControlFlow,
  moves: MoveLookup,
  sources: readonly number[],
): ReadonlyMap<number, ReadonlySet<number>> {
  const placesOf = new Map<number, Set<number>>();
  const pending: number[] = [];
  const add = (state: number, places: Iterable<number>): void => {
    const known = placesOf.get(state) ?? new Set();
    placesOf.set(state, known);
    const before = known.size;
    for (const place of places) if (known.size <= MAX_PLACES) known.add(place);
    if (known.size > before) pending.push(state);
  };
  for (const source of sources) {
    for (const exit of flow.exits[source] ?? []) if (exit.kind === 'call') add(exit.to, [exit.back]);
  }
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    for (const { to, how, exit } of moves(state)) {
      const isSameCall = how !== 'enter' && how !== 'worker' && !(exit.kind === 'step' && exit.clearsStack);
      if (isSameCall) add(to, placesOf.get(state) ?? []);
    }
  }
  return placesOf;
}

/** The states that agents get to from those of `states` that no other leads to; each of a circle is a start as well. */
function reachFromRoots(flow: ControlFlow, moves: MoveLookup, states: readonly number[]): Reachability {
  const followers = new Set(states.flatMap((state) => moves(state).flatMap(({ to }) => (to === state ? [] : to))));
  const roots = states.filter((state) => !followers.has(state));
  const reach = findReachability(flow, moves, roots);
  return findReachability(flow, moves, [...roots, ...states.filter((state) => !reach.has(state))]);
}
