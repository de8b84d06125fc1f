import { isWorkflowTag, namesakeOf } from '../language/transitions/index.ts';
import type { Edge, EdgeTarget, Graph } from './graph.ts';

/** One way out of a state. States are numbers here. */
export type FlowExit =
  | { readonly kind: 'result'; readonly edge: Edge | null }
  | { readonly kind: 'step'; readonly to: number; readonly clearsStack: boolean; readonly edge: Edge | null }
  | { readonly kind: 'call'; readonly to: number; readonly back: number; readonly edge: Edge | null }
  | { readonly kind: 'fork'; readonly to: number; readonly next: number; readonly edge: Edge | null };

/**
 * A workflow as a pushdown system: its states, and a return stack that calls fill and results empty. Everything unknown
 * counts as possible: a name that the agent chooses, or that is ambiguous, leads to `any`, which leads to every state; a state that does not
 * exist, or shows no way out, may at least give its result. So what is impossible here cannot happen in any run.
 */
export interface ControlFlow {
  readonly names: readonly string[];
  readonly any: number;
  readonly entry: number | null;
  readonly exits: readonly (readonly FlowExit[])[];
  /** By state, whether `max_visits` limits how often an agent enters it, in all or in one call; null if it does not. */
  readonly bounded: readonly ('agent' | 'call' | null)[];
  numberOf(state: string): number;
}

/** Numbers the states of a graph and lists the ways out of each. */
export function buildControlFlow({ nodes, edges, entry }: Graph): ControlFlow {
  const states = nodes.filter(({ kind }) => kind !== 'missing');
  const names = [...states.map(({ state }) => state), '(missing)', '(any)'];
  const numbers = new Map(states.map(({ state }, index) => [state, index]));
  const missing = states.length;
  const any = missing + 1;
  const numberOf = (state: string): number => numbers.get(state) ?? missing;
  const toNumber = (target: EdgeTarget | null): number => {
    if (target?.kind === 'any' || (target?.kind === 'missing' && target.others !== undefined)) return any;
    return numberOf(target?.kind === 'state' ? target.file : (target?.meant ?? ''));
  };
  const exits: FlowExit[][] = names.map(() => []);
  // A workflow that is chosen at run time is another one than these.
  const toWorkflow = (target: EdgeTarget | null): number => (target?.kind === 'any' ? missing : toNumber(target));
  for (const edge of edges)
    exits[numberOf(edge.from)]?.push(
      toExit(edge, isWorkflowTag(edge.tag) ? toWorkflow(edge.to) : toNumber(edge.to), toNumber),
    );
  for (const [index, { open }] of states.entries()) {
    if (open) exits[index]?.push(...exitsToAnywhere(any));
    const shown = exits[index]?.some(({ edge }) => edge !== null && isAnswer(edge)) ?? false;
    if (!shown) exits[index]?.push({ kind: 'result', edge: null });
  }
  exits[missing]?.push({ kind: 'result', edge: null });
  exits[any]?.push(...states.map((_, to) => ({ kind: 'step', to, clearsStack: false, edge: null }) as const));
  return {
    names,
    any,
    entry: entry === null ? null : numberOf(entry),
    exits,
    bounded: [...states.map(({ maxVisits, maxVisitsPer }) => (maxVisits === null ? null : maxVisitsPer)), null, null],
    numberOf,
  };
}

/** True if a state's file says that it can answer in this way; what its evaluators and guards do is no answer. */
export const isAnswer = ({ origin, evaluator }: Edge): boolean =>
  origin !== 'mentioned' && origin !== 'guard' && evaluator === null;

function toExit(edge: Edge, to: number, toNumber: (target: EdgeTarget | null) => number): FlowExit {
  switch (namesakeOf(edge.tag)) {
    case 'result':
      return { kind: 'result', edge };
    case 'goto':
    case 'join':
    case 'reset':
    case 'ask':
    case 'compact':
      return { kind: 'step', to, clearsStack: edge.clearsStack, edge };
    case 'call':
    case 'function':
      return { kind: 'call', to, back: toNumber(edge.return), edge };
    case 'fork':
    case 'fork-each':
      return { kind: 'fork', to, next: toNumber(edge.next), edge };
  }
}

const exitsToAnywhere = (any: number): readonly FlowExit[] => [
  { kind: 'result', edge: null },
  { kind: 'step', to: any, clearsStack: false, edge: null },
  { kind: 'call', to: any, back: any, edge: null },
  { kind: 'fork', to: any, next: any, edge: null },
];
