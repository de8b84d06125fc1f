import type { TagName } from '../core/transitions/index.ts';
import type { Ends } from './ends.ts';
import type { Exit, Flow } from './flow.ts';
import type { Place } from './sheet.ts';

/** How one state follows on another. A `back` comes after a whole call, from the caller to where it returns to. */
type How = 'step' | 'enter' | 'back' | 'worker' | 'next';

/** One state that can follow on another, all returns being real. */
export interface Move {
  readonly to: number;
  readonly how: How;
  readonly exit: Exclude<Exit, { kind: 'result' }>;
}

/** One step of an example. */
export interface Step {
  readonly from: string;
  readonly to: string;
  readonly tag: TagName | null;
  /** `more` stands for steps that are left out: nobody reads a way of hundreds. */
  readonly how: How | 'more';
  /** For a `back`, the state that was called and has returned; for a `next`, the worker that was forked. */
  readonly after: string | null;
  readonly at: Place | null;
  /** Whether the state is one of all there are, because its name is only known when the tag is said. */
  readonly computed?: true;
}

/** The states that can follow on this one. What a call comes back to follows only if the callee can return. */
export function movesFrom(flow: Flow, { returns }: Pick<Ends, 'returns'>, state: number): readonly Move[] {
  const moves: Move[] = [];
  for (const exit of flow.exits[state] ?? []) {
    switch (exit.kind) {
      case 'result':
        break;
      case 'step':
        moves.push({ to: exit.to, how: 'step', exit });
        break;
      case 'call':
        moves.push({ to: exit.to, how: 'enter', exit });
        if (returns[exit.to]) moves.push({ to: exit.back, how: 'back', exit });
        break;
      case 'fork':
        moves.push({ to: exit.next, how: 'next', exit }, { to: exit.to, how: 'worker', exit });
        break;
    }
  }
  return moves;
}

/** Where an agent stands: with nobody to return to, or within a call. */
export type Level = 'bottom' | 'called';

/** The states that an agent can really get to, each with a shortest way; a call that has returned counts as one step. */
export interface Reach {
  has(state: number, level?: Level): boolean;
  /** How many steps it takes to get there; infinite if there is no way. */
  distance(state: number, level?: Level): number;
  pathTo(state: number, level?: Level): readonly Step[];
}

/** Looks for all that can be reached from the entry; from everywhere, if there is no entry. */
export function findReach(flow: Flow, ends: Pick<Ends, 'returns'>): Reach {
  const size = 2 * flow.names.length;
  const distances = new Array<number>(size).fill(Number.POSITIVE_INFINITY);
  const origins: ({ readonly from: number; readonly move: Move } | undefined)[] = new Array(size);
  const roots = flow.entry === null ? flow.names.keys() : [flow.entry];
  const queue = [...roots].map((state) => 2 * state);
  for (const place of queue) distances[place] = 0;
  for (let i = 0; i < queue.length; i++) {
    const place = queue[i] ?? 0;
    for (const move of movesFrom(flow, ends, place >> 1)) {
      const to = 2 * move.to + levelAfter(move, place & 1);
      if (distances[to] !== Number.POSITIVE_INFINITY) continue;
      distances[to] = (distances[place] ?? 0) + 1;
      origins[to] = { from: place, move };
      queue.push(to);
    }
  }
  const placeOf = (state: number, level?: Level): number => {
    if (level !== undefined) return 2 * state + (level === 'called' ? 1 : 0);
    return (distances[2 * state + 1] ?? 0) < (distances[2 * state] ?? 0) ? 2 * state + 1 : 2 * state;
  };
  const distance = (state: number, level?: Level): number =>
    distances[placeOf(state, level)] ?? Number.POSITIVE_INFINITY;
  return {
    distance,
    has: (state, level) => distance(state, level) !== Number.POSITIVE_INFINITY,
    pathTo(state, level) {
      const steps: Step[] = [];
      for (let at = placeOf(state, level); ; ) {
        const origin = origins[at];
        if (origin === undefined) return steps.reverse();
        if (steps.length === MOST_STEPS) return [leftOut(flow, at >> 1), ...steps.reverse()];
        steps.push(stepOf(flow, origin.from >> 1, origin.move));
        at = origin.from;
      }
    },
  };
}

/** As many steps of a way are shown, the last ones, so that many long ways do not take for ever. */
export const MOST_STEPS = 100;

/** The steps from the entry to this state, as one. */
export function leftOut({ names, entry }: Flow, state: number): Step {
  const [from = '', to = ''] = [names[entry ?? state], names[state]];
  return { from, to, tag: null, how: 'more', after: null, at: null };
}

/** A move in the words of an example. */
export function stepOf(flow: Flow, from: number, { to, how, exit }: Move): Step {
  const name = (state: number): string => flow.names[state] ?? '';
  const after = how === 'back' || how === 'next' ? name(exit.to) : null;
  return { from: name(from), to: name(to), tag: exit.edge?.tag ?? null, how, after, at: exit.edge?.at ?? null };
}

function levelAfter({ how, exit }: Move, level: number): number {
  if (how === 'enter') return 1;
  return how === 'worker' || (exit.kind === 'step' && exit.clears) ? 0 : level;
}
