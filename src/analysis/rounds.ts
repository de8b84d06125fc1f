import type { Flow } from './flow.ts';
import { type Move, type Step, stepOf } from './reach.ts';

export type Moves = (state: number) => readonly Move[];

/** A shortest way round from a state back to itself that begins with such a move. */
export function shortestRound(
  flow: Flow,
  inside: Moves,
  start: number,
  begins: (move: Move) => boolean,
): readonly Step[] {
  return pathIn(flow, search(inside, start, start, begins), start, start);
}

/** A way round through the state that is farthest away, so that it shows as much as possible of where one can get. */
export function widestRound(flow: Flow, inside: Moves, start: number): readonly Step[] {
  const origins = search(inside, start, undefined, () => true);
  const farthest = [...origins.keys()].findLast((state) => state !== start && state !== flow.any) ?? start;
  const back = search(inside, farthest, start, () => true);
  const there = farthest === start ? [] : pathIn(flow, origins, start, farthest);
  return [...there, ...pathIn(flow, back, farthest, start)];
}

type Origins = ReadonlyMap<number, { readonly from: number; readonly move: Move }>;

/** What leads first to each of the states that can be reached, the nearest first; up to the goal, if there is one. */
function search(inside: Moves, start: number, goal: number | undefined, begins: (move: Move) => boolean): Origins {
  const origins = new Map<number, { readonly from: number; readonly move: Move }>();
  const queue = [start];
  for (let i = 0; i < queue.length && !(goal !== undefined && origins.has(goal)); i++) {
    const from = queue[i] ?? 0;
    for (const move of inside(from)) {
      if (origins.has(move.to) || (from === start && !begins(move))) continue;
      origins.set(move.to, { from, move });
      queue.push(move.to);
    }
  }
  return origins;
}

function pathIn(flow: Flow, origins: Origins, start: number, goal: number): readonly Step[] {
  const steps: Step[] = [];
  for (let at = goal; steps.length <= origins.size; ) {
    const origin = origins.get(at);
    if (origin === undefined) break;
    steps.push(stepOf(flow, origin.from, origin.move));
    at = origin.from;
    if (at === start) break;
  }
  return steps.reverse();
}
