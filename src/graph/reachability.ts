import type { GuardOutcome } from '../language/guards.ts';
import type { TextPosition } from '../language/text/text.ts';
import type { TagName } from '../language/transitions/index.ts';
import type { ControlFlow, FlowExit } from './control-flow.ts';

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
  /** The outcome that made this step; absent for an answer. */
  readonly guard?: GuardOutcome;
  /** The kind of the move; `more` stands for steps that are left out. */
  readonly how: MoveKind | 'more';
  /** For a `back`, the state that was called and has returned; for a `next`, the worker that was forked. */
  readonly after: string | null;
  readonly at: TextPosition | null;
  /** Set if the name of the state is chosen at run time, so that `to` is one of all states. */
  readonly computed?: true;
}

/** Looks up the moves out of a state. */
export type MoveLookup = (state: number) => readonly FlowMove[];

/** Finds the moves out of every state. The state that a call returns to follows only if the callee can return. */
export function findMoves(flow: ControlFlow, returns: readonly boolean[]): MoveLookup {
  const all = flow.exits.map((exits) => listMoves(exits, returns));
  return (state) => all[state] ?? [];
}

function listMoves(exits: readonly FlowExit[], returns: readonly boolean[]): readonly FlowMove[] {
  const moves: FlowMove[] = [];
  for (const exit of exits) {
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
  /** A shortest path; only the last steps of a long one. */
  pathTo(state: number, level?: StackLevel, maxSteps?: number): readonly PathStep[];
}

/** Finds the states that these moves lead to from the roots: from the entry, or from every state if there is none. */
export function findReachability(
  flow: ControlFlow,
  moves: MoveLookup,
  roots: Iterable<number> = flow.entry === null ? flow.names.keys() : [flow.entry],
): Reachability {
  // By 2 * state + level. Iterating over a map also visits what is added meanwhile.
  const visits = new Map<number, { readonly distance: number; readonly from?: number; readonly move?: FlowMove }>();
  for (const root of roots) visits.set(2 * root, { distance: 0 });
  for (const [from, { distance }] of visits) {
    for (const move of moves(from >> 1)) {
      const to = 2 * move.to + levelAfter(move, from & 1);
      if (!visits.has(to)) visits.set(to, { distance: distance + 1, from, move });
    }
  }
  const distanceOf = (node: number): number => visits.get(node)?.distance ?? Number.POSITIVE_INFINITY;
  const nodeOf = (state: number, level?: StackLevel): number => {
    const called = 2 * state + 1;
    return level === undefined
      ? called - Number(distanceOf(called) >= distanceOf(called - 1))
      : called - Number(level === 'bottom');
  };
  return {
    distance: (state, level) => distanceOf(nodeOf(state, level)),
    has: (state, level) => visits.has(nodeOf(state, level)),
    pathTo(state, level, maxSteps = MAX_PATH_STEPS) {
      const steps: PathStep[] = [];
      for (let at = nodeOf(state, level); ; ) {
        const { from, move } = visits.get(at) ?? {};
        if (from === undefined || move === undefined) return steps.reverse();
        if (steps.length === maxSteps) return [toOmittedStep(flow, at >> 1), ...steps.reverse()];
        steps.push(toPathStep(flow, from >> 1, move));
        at = from;
      }
    },
  };
}

/** Only the last steps of a path are kept, so that many long paths do not take forever. */
const MAX_PATH_STEPS = 100;

/** Makes the step that stands for all steps from the entry to a state. */
function toOmittedStep({ names, entry }: ControlFlow, state: number): PathStep {
  const [from = '', to = ''] = [names[entry ?? state], names[state]];
  return { from, to, tag: null, how: 'more', after: null, at: null };
}

/** Turns a move into a step of an example path. */
export function toPathStep(flow: ControlFlow, from: number, { to, how, exit }: FlowMove): PathStep {
  const name = (state: number): string => flow.names[state] ?? '';
  const after = how === 'back' || how === 'next' ? name(exit.to) : null;
  const { tag = null, at = null, guard = null } = exit.edge ?? {};
  return { from: name(from), to: name(to), tag, ...(guard !== null && { guard }), how, after, at };
}

function levelAfter({ how, exit }: FlowMove, level: number): number {
  if (how === 'enter') return 1;
  return how === 'worker' || (exit.kind === 'step' && exit.clearsStack) ? 0 : level;
}
