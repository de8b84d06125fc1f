import type { Question } from '../../language/ask.ts';
import type { Decision, PermissionRequest } from '../../language/permission.ts';
import type { Agent, TurnPrompt } from './agent.ts';

/*
 * The question whether an agent may use a tool.
 *
 *                answered, timed out            receipt
 *   open ───────────────────────────▶ answered ─────────▶ delivered
 *    │                                   │                    ▲
 *    │ its process is gone               │ its process is gone│ the call is repeated,
 *    ▼           answered, timed out     ▼                    │ or the agent does without it
 *  parked ─────────────────────────▶ decided ─────────────────┘
 *                                    (goes with the next prompt)
 *
 *  cancelled: from any state, if the agent asks no more because its turn ended otherwise, or it left its state
 *
 * 1. A question is in the journal before anybody sees it, and its answer before the backend gets it.
 * 2. Delivered and cancelled questions leave the run; the journal keeps them.
 * 3. A question that times out is denied.
 */

/** The state of a question about a tool, as long as it is part of a run. */
export type PermissionState =
  /** The process waits. */
  | { readonly kind: 'open' }
  /** No process waits: the call is to be repeated. */
  | { readonly kind: 'parked' }
  | { readonly kind: 'answered'; readonly decision: Decision; readonly by: string }
  | { readonly kind: 'decided'; readonly decision: Decision; readonly by: string };

/** A question about a tool. */
export interface PermissionQuestion {
  /** AGENT-TURN.N */
  readonly id: string;
  /** The turn whose process asked. */
  readonly turn: number;
  readonly question: Question & { readonly permission: PermissionRequest };
  readonly askedAt: number;
  /** When it is denied without an answer; null for never. */
  readonly untilMs: number | null;
  readonly state: PermissionState;
}

/** A question that waits for a person: an agent asks it, or the use of a tool depends on it. */
export interface WaitingAsk {
  readonly ask: string;
  readonly agent: Agent;
  readonly question: Question;
  readonly askedAt: number;
  readonly untilMs: number | null;
  /** Set if a person interrupted the agent, which asks how to continue. */
  readonly interrupted?: TurnPrompt;
}

/** True if nobody has answered it. */
export const isUnanswered = ({ state }: PermissionQuestion): boolean =>
  state.kind === 'open' || state.kind === 'parked';

/** The questions of an agent that wait for a person. */
export function waitingAsksOf(agent: Agent): readonly WaitingAsk[] {
  const { phase } = agent;
  if (phase.kind === 'asking') {
    const { ask, question, askedAt, untilMs, interrupted } = phase;
    return [{ ask, agent, question, askedAt, untilMs, ...(interrupted && { interrupted }) }];
  }
  if (agent.permissions.length === 0 || (phase.kind !== 'running' && phase.kind !== 'parked')) return NO_ASKS;
  return agent.permissions
    .filter(isUnanswered)
    .map(({ id, question, askedAt, untilMs }) => ({ ask: id, agent, question, askedAt, untilMs }));
}

const NO_ASKS: readonly WaitingAsk[] = [];

/** True if the process of an agent's turn waits for a person. */
export const isBlocked = ({ phase, permissions }: Agent): boolean =>
  phase.kind === 'running' && permissions.some(({ state }) => state.kind === 'open');
