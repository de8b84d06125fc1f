import type { TextPosition } from '../core/text-position.ts';
import type { TagName } from '../core/transitions/index.ts';
import type { ControlFlow, FlowExit } from './control-flow.ts';
import type { TerminationFacts } from './termination.ts';

/** The kind of a move from state to state. A `back` leads from the caller to where a call returns, after the whole call. */
type MoveKind = 'step' | 'enter' | 'back' | 'worker' | 'next';

/** One state that can follow another. */
export interface FlowMove {
  readonly to: number;
  readonly how: MoveKind;
  readonly exit: Exclude<FlowExit, { kind: 'result' }>;
}

/** One step of an example path. */
export interface PathStep {
  readonly from: string;
  readonly to: string;
  readonly tag: TagName | null;
  /** The kind of the move; `more` stands for steps that are left out. */
  readonly how: MoveKind | 'more';
  /** For a `back`, the state that was called and has returned; for a `next`, the worker that was forked. */
  readonly after: string | null;
  readonly at: TextPosition | null;
  /** Set if the name of the state is chosen at run time, so that `to` is one of all states. */
  readonly computed?: true;
}

/** Finds the states that can follow a state. The state that a call returns to follows only if the callee can return. */
export function findMoves(
  flow: ControlFlow,
  { returns }: Pick<TerminationFacts, 'returns'>,
  state: number,
): readonly FlowMove[] {
  const moves: FlowMove[] = [];
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
      default:
        exit satisfies never;
    }
  }
  return moves;
}

/** The return stack of an agent: empty (`bottom`), or within a call. */
export type StackLevel = 'bottom' | 'called';

/** The states that an agent can get to, each with a shortest path; a call that has returned counts as one step. */
export interface Reachability {
  has(state: number, level?: StackLevel): boolean;
  /** How many steps it takes to get there; infinite if it is unreachable. */
  distance(state: number, level?: StackLevel): number;
  pathTo(state: number, level?: StackLevel): readonly PathStep[];
}

/** Finds the states that can be reached from the entry; from every state, if there is no entry. */
export function findReachability(flow: ControlFlow, ends: Pick<TerminationFacts, 'returns'>): Reachability {
  const size = 2 * flow.names.length;
  const distances = new Array<number>(size).fill(Number.POSITIVE_INFINITY);
  const origins: ({ readonly from: number; readonly move: FlowMove } | undefined)[] = new Array(size);
  const roots = flow.entry === null ? flow.names.keys() : [flow.entry];
  const queue = [...roots].map((state) => 2 * state);
  for (const node of queue) distances[node] = 0;
  for (let i = 0; i < queue.length; i++) {
    const node = queue[i] ?? 0;
    for (const move of findMoves(flow, ends, node >> 1)) {
      const to = 2 * move.to + levelAfter(move, node & 1);
      if (distances[to] !== Number.POSITIVE_INFINITY) continue;
      distances[to] = (distances[node] ?? 0) + 1;
      origins[to] = { from: node, move };
      queue.push(to);
    }
  }
  const nodeOf = (state: number, level?: StackLevel): number => {
    if (level !== undefined) return 2 * state + (level === 'called' ? 1 : 0);
    return (distances[2 * state + 1] ?? 0) < (distances[2 * state] ?? 0) ? 2 * state + 1 : 2 * state;
  };
  const distance = (state: number, level?: StackLevel): number =>
    distances[nodeOf(state, level)] ?? Number.POSITIVE_INFINITY;
  return {
    distance,
    has: (state, level) => distance(state, level) !== Number.POSITIVE_INFINITY,
    pathTo(state, level) {
      const steps: PathStep[] = [];
      for (let at = nodeOf(state, level); ; ) {
        const origin = origins[at];
        if (origin === undefined) return steps.reverse();
        if (steps.length === MAX_PATH_STEPS) return [toOmittedStep(flow, at >> 1), ...steps.reverse()];
        steps.push(toPathStep(flow, origin.from >> 1, origin.move));
        at = origin.from;
      }
    },
  };
}

/** Only the last steps of a path are kept, so that many long paths do not take forever. */
export const MAX_PATH_STEPS = 100;

/** Makes the step that stands for all steps from the entry to a state. */
export function toOmittedStep({ names, entry }: ControlFlow, state: number): PathStep {
  const [from = '', to = ''] = [names[entry ?? state], names[state]];
  return { from, to, tag: null, how: 'more', after: null, at: null };
}

/** Turns a move into a step of an example path. */
export function toPathStep(flow: ControlFlow, from: number, { to, how, exit }: FlowMove): PathStep {
  const name = (state: number): string => flow.names[state] ?? '';
  const after = how === 'back' || how === 'next' ? name(exit.to) : null;
  return { from: name(from), to: name(to), tag: exit.edge?.tag ?? null, how, after, at: exit.edge?.at ?? null };
}

function levelAfter({ how, exit }: FlowMove, level: number): number {
  if (how === 'enter') return 1;
  return how === 'worker' || (exit.kind === 'step' && exit.clearsStack) ? 0 : level;
}
