import type { ControlFlow } from './control-flow.ts';
import { type FlowMove, type PathStep, toPathStep } from './reachability.ts';

/** Looks up the moves out of a state that stay within a cycle. */
export type MoveLookup = (state: number) => readonly FlowMove[];

/** Finds a shortest path from a state back to itself that begins with such a move. */
export function findShortestCycle(
  flow: ControlFlow,
  inside: MoveLookup,
  start: number,
  begins: (move: FlowMove) => boolean,
): readonly PathStep[] {
  return toPath(flow, search(inside, start, start, begins), start, start);
}

/** Finds a path from a state back to itself through the state that is farthest away, so that it shows as much as possible. */
export function findWidestCycle(flow: ControlFlow, inside: MoveLookup, start: number): readonly PathStep[] {
  const origins = search(inside, start, undefined, () => true);
  const farthest = [...origins.keys()].findLast((state) => state !== start && state !== flow.any) ?? start;
  const back = search(inside, farthest, start, () => true);
  const there = farthest === start ? [] : toPath(flow, origins, start, farthest);
  return [...there, ...toPath(flow, back, farthest, start)];
}

type Origins = ReadonlyMap<number, { readonly from: number; readonly move: FlowMove }>;

/** Searches breadth first, up to the goal if there is one: by state, the move that led there first. */
function search(
  inside: MoveLookup,
  start: number,
  goal: number | undefined,
  begins: (move: FlowMove) => boolean,
): Origins {
  const origins = new Map<number, { readonly from: number; readonly move: FlowMove }>();
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

function toPath(flow: ControlFlow, origins: Origins, start: number, goal: number): readonly PathStep[] {
  const steps: PathStep[] = [];
  for (let at = goal; steps.length <= origins.size; ) {
    const origin = origins.get(at);
    if (origin === undefined) break;
    steps.push(toPathStep(flow, origin.from, origin.move));
    at = origin.from;
    if (at === start) break;
  }
  return steps.reverse();
}
