import { backOffMs, type FailureKind } from '../../language/failure.ts';
import { type CaughtOutcome, findGuard, outcomeOf, type Streak } from '../../language/guards.ts';
import { nameState, workflowNameOf } from '../../language/named-workflows.ts';
import { inputText } from '../../language/position.ts';
import { type Agent, PER_STATE_DEFAULTS, type TurnPrompt, turnSubjectOf } from '../run/agent.ts';
import { explainDenials } from '../run/denials.ts';
import type { Step, Transitioned } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import { failAgent, leftStateOf } from './end-agent.ts';

/** How a state failed. */
export interface StateFailure {
  readonly kind: FailureKind;
  readonly message: string;
  /** The outcome that guards look for, if it does not follow from the kind. */
  readonly outcome?: CaughtOutcome['outcome'];
}

/** When a state failed, and how it is tried again. */
interface RetryPlan {
  readonly at: number;
  readonly jitter: number;
  readonly prompt: TurnPrompt;
  /** How often a state without a `retry` of its own is tried again; null if its kind of failure is not. */
  readonly limit: number | null;
}

/** Does what is to be done about a failed state: it is tried again, a guard leads elsewhere, or its agent fails. */
export function failState(run: Run, agent: Agent, failure: StateFailure, plan: RetryPlan): Step {
  const { at, jitter, prompt } = plan;
  const limit = agent.rules?.guards?.retry ?? plan.limit;
  const count = agent.retries + 1;
  if (count <= (limit ?? 0)) {
    const retrying = { ...agent, retries: count };
    return sleep(run, retrying, { why: 'retry', untilMs: at + backOffMs(count, jitter), prompt }, failure, at, count);
  }
  const tried = limit === null ? '' : ` (tried ${count} ${count === 1 ? 'time' : 'times'})`;
  // Below the first line may be what a script printed.
  const message = explainDenied(agent, `${turnSubjectOf(agent)}: ${failure.message.replace(/$|(?=\n)/, () => tried)}`);
  const outcome = failure.outcome ?? outcomeOf(failure.kind);
  return takeGuard(run, agent, { outcome, message }, at, failure.kind) ?? failAgent(run, agent, message, at);
}

/** Puts an agent to sleep. */
export function sleep(
  run: Run,
  agent: Agent,
  phase: { readonly why: 'retry' | 'usage_limit'; readonly untilMs: number; readonly prompt: TurnPrompt },
  { kind: failure, message }: Pick<StateFailure, 'kind' | 'message'>,
  at: number,
  count: number,
): Step {
  const { why, untilMs } = phase;
  const eventBase = { at, agent: agent.id, state: agent.state };
  return {
    run: withAgent(run, { ...agent, phase: { kind: 'sleeping', ...phase, waitMs: untilMs - at } }),
    events: [{ kind: 'sleeping', ...eventBase, why, untilMs, failure, message, count }],
  };
}

/** The message about a failure, with the tools that were denied before. */
const explainDenied = ({ state, denied }: Agent, message: string): string =>
  denied.length === 0 ? message : `${message}; ${explainDenials(state, denied)}`;

/** Failures after which the conversation is of no use to anybody: what was too long, or declined, stays in it. */
const SPOILS_SESSION: ReadonlySet<FailureKind> = new Set(['prompt_too_long', 'refusal', 'session_lost']);

/**
 * Lets an agent continue in the state that a guard names, with the input that it had and in the same conversation, unless the
 * failure has spoilt that. Undefined if no guard catches the outcome.
 */
export function takeGuard(
  run: Run,
  agent: Agent,
  { outcome, message, requested = [] }: CaughtOutcome & { readonly requested?: Transitioned['requested'] },
  at: number,
  failure: FailureKind | null = null,
): Step | undefined {
  const on = agent.rules?.guards?.on ?? {};
  const key = findGuard(on, outcome);
  const file = key === undefined ? undefined : on[key];
  if (key === undefined || file === undefined) return undefined;
  const target = nameState(workflowNameOf(agent.state), file);
  // A judge's failure does not affect the agent's conversation.
  const isSpoilt = failure !== null && agent.evaluation === null && SPOILS_SESSION.has(failure);
  const { session, input } = agent;
  const next: Agent = {
    ...agent,
    ...PER_STATE_DEFAULTS,
    state: target,
    session: isSpoilt ? null : session,
    error: message,
    phase: { kind: 'ready', prompt: { kind: 'state' }, since: run.seq },
  };
  return {
    run: withAgent(run, next),
    events: [
      {
        kind: 'transition',
        at,
        ...leftStateOf(agent),
        tag: isSpoilt ? 'reset' : 'goto',
        tags: [],
        to: target,
        implicit: false,
        guard: { outcome: key, message },
        requested,
        choice: { by: 'guard', name: key, why: message },
        input: inputText(input),
      },
    ],
  };
}

/** Counts a visit that ends with this fingerprint; undefined if the state does not ask for that, or if it is not known. */
export function countStreak({ rules, streaks, state }: Agent, fingerprint: string | null): Streak | undefined {
  if (rules?.guards?.stuck == null || fingerprint === null) return undefined;
  const before = Object.hasOwn(streaks, state) ? streaks[state] : undefined;
  return { fingerprint, visits: before?.fingerprint === fingerprint ? before.visits + 1 : 1 };
}
