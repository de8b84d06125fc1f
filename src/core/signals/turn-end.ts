import type { FailureKind } from '../../language/failure.ts';
import type { Session } from '../../language/position.ts';
import { finishCancelled } from '../joins/join.ts';
import { type Agent, type RunningTurn, recordedTurn, turnSessionOf, withTurnSession } from '../run/agent.ts';
import { mergeDenials } from '../run/denials.ts';
import type { Event, Step, TurnEnded } from '../run/event.ts';
import {
  addMicros,
  believableCost,
  type CostReport,
  coverUnknown,
  enterCost,
  microsToUsd,
  noteUnknown,
} from '../run/ledger.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import type { TurnInterruption } from '../run/said.ts';
import { leftToSay } from '../run/say.ts';
import { strongerStop } from '../run/status.ts';
import { addTokens, splitCost, sumTokens } from '../run/tokens.ts';
import { closeQuestions } from './permission.ts';

/** A run after the end of a turn, before anything is done about how it ended. */
export interface FinishedTurn {
  readonly run: Run;
  readonly agent: Agent;
  readonly turn: RunningTurn;
  /** True if a join needed the agent no more, so that it does not matter how the turn ended. */
  readonly isCancelled: boolean;
  /** The person's request, if the turn was interrupted: then the answer does not matter either. */
  readonly interruption: TurnInterruption | null;
  /** True if tools of the turn still wait for a person, or were decided about too late. */
  readonly isParked: boolean;
  readonly events: readonly Event[];
}

interface TurnReport {
  readonly agent: string;
  readonly at: number;
  readonly cost: CostReport | null;
  /** True if the conversation of the turn exists and can be continued. */
  readonly sessionKept: boolean;
  /** The conversation that Claude Code used instead of the one that it was given, if any. */
  readonly reportedSession?: string | null;
  /** The model that Claude Code reported, if nobody had named one. */
  readonly model?: string | undefined;
  readonly failure: FailureKind | null;
  readonly denials: readonly string[];
  /** The texts that it has shown the user; left out if there are none. */
  readonly prints?: readonly string[] | undefined;
}

/** Records the end of a turn, whether it succeeded or failed: its cost and its conversation. */
export function recordTurnEnd(run: Run, report: TurnReport): FinishedTurn {
  const before = getAgent(run, report.agent);
  const turn = recordedTurn(before.phase);
  if (turn === null) throw new Error(`${before.id} is ${before.phase.kind}: it has no turn to end`);
  const isCancelled = before.phase.kind === 'cancelling';
  const interruption = before.interruption?.turn === turn.number ? before.interruption : null;
  const isParked = !isCancelled && interruption === null && leavesQuestions(before, turn, report.failure);
  const isClaudeTurn = turn.session !== null;
  const sessionId = turn.session === null ? null : (report.reportedSession ?? turn.session.id);
  const isUnknown = report.cost?.kind === 'unknown';
  const cost = report.cost === null ? null : believableCost(chargeFor(run, before, turn, report.cost));
  const estimated = cost?.kind === 'estimated';
  const canned = cost?.canned ?? false;
  const micros = cost?.micros ?? 0;
  const models = splitCost(micros, cost?.models ?? []);
  const tokens = sumTokens(models);
  const questions = before.permissions.filter(({ state }) => {
    // What people have decided is told again if the turn that was told has failed.
    const isToldAgain = report.failure !== null && !isCancelled && interruption === null && state.kind === 'decided';
    return isParked || isToldAgain;
  });
  const sessionBefore = turnSessionOf(before);
  const session =
    sessionId === null || !report.sessionKept
      ? sessionBefore
      : openSession(sessionId, sessionBefore?.model ?? report.model);
  const agent: Agent = {
    ...withTurnSession(before, session),
    costMicros: addMicros(before.costMicros, micros),
    stateMicros: addMicros(before.stateMicros, micros),
    stateTokens: models.length === 0 ? before.stateTokens : addTokens(before.stateTokens, tokens),
    denied: mergeDenials(before.denied, report.denials),
    interruption: null,
    permissions: questions,
    messages: leftToSay(before, turn.number, sessionId !== null && report.sessionKept),
  };
  const evaluator = agent.evaluation?.file ?? null;
  const entered =
    isClaudeTurn && cost !== null
      ? enterCost(run.ledger, agent.state, { micros, estimated, canned, tokens })
      : run.ledger;
  const ledger = isUnknown
    ? noteUnknown(entered, { agent: agent.id, turn: turn.number, state: agent.state, evaluator, micros, canned })
    : entered;
  const ended: TurnEnded = {
    kind: 'turn_ended',
    at: report.at,
    agent: agent.id,
    state: agent.state,
    evaluator,
    turn: turn.number,
    session: sessionId,
    costMicros: micros,
    estimated,
    canned,
    models,
    spentMicros: ledger.spentMicros,
    durationMs: report.at - turn.startedAt,
    failure: isParked ? 'parked' : interruption === null || isCancelled ? report.failure : 'broken_off',
    denials: report.denials,
  };
  const { prints = [] } = report;
  const printed = prints.map((text): Event => {
    return { kind: 'printed', at: report.at, agent: agent.id, state: agent.state, turn: turn.number, text };
  });
  const closed = closeQuestions(before, questions, report.at, report.failure === null);
  const events = [
    ...printed,
    ...closed,
    ended,
    ...refusedCostWarning(ended, cost),
    ...otherSessionWarning(ended, report),
  ];
  const charged = withAgent({ ...run, ledger }, agent);
  if (!isOverBudget(charged) || isOverBudget(run))
    return { run: charged, agent, turn, isCancelled, interruption, isParked, events };
  const stop = strongerStop(run.stop, { kind: 'budget' });
  return {
    run: { ...charged, stop },
    agent,
    turn,
    isCancelled,
    interruption,
    isParked,
    events: [...events, { kind: 'run_stopping', at: report.at, stop: { kind: 'budget' } }],
  };
}

/** The failures of a turn whose process is gone, but not its questions about tools. */
const GONE: ReadonlySet<FailureKind | null> = new Set(['parked', 'stopped', 'lost', 'transient', 'timeout', 'budget']);

/** True if a turn has ended, and the process of a tool with it, before the backend had all decisions about its tools. */
const leavesQuestions = ({ permissions }: Agent, { number }: RunningTurn, failure: FailureKind | null): boolean =>
  GONE.has(failure) && permissions.some(({ turn, state }) => turn === number && state.kind !== 'decided');

/** The charge for a turn: if its cost is unknown, the most that it may have cost. */
const chargeFor = ({ ledger }: Run, { state }: Agent, { capMicros }: RunningTurn, cost: CostReport): CostReport =>
  cost.kind === 'unknown' ? coverUnknown(ledger, state, capMicros, cost) : cost;

/** The model of its first turn counts: what is cached of the conversation was paid for with that. */
const openSession = (id: string, model: string | undefined): Session => ({
  kind: 'open',
  id,
  ...(model !== undefined && { model }),
});

/** The end of an agent that a join no longer needs. */
export function afterCancelled({ run, agent, events }: FinishedTurn, at: number): Step {
  const next = finishCancelled(run, agent.id, at);
  return { run: next.run, events: [...events, ...next.events] };
}

/** Warns that the ledger does not have the cost that was reported. */
function refusedCostWarning({ at, agent, state }: TurnEnded, cost: CostReport | null): readonly Event[] {
  if (cost?.refusedUsd === undefined) return [];
  const message = `${state}: a cost of ${cost.refusedUsd} dollars was reported, which no turn can have; ${microsToUsd(cost.micros)} dollars are counted as an estimate`;
  return [{ kind: 'warning', at, agent, state, message }];
}

/** Warns that Claude Code continued in another conversation than it was told to. */
function otherSessionWarning({ at, agent, state }: TurnEnded, { reportedSession }: TurnReport): readonly Event[] {
  if (reportedSession == null) return [];
  const message = `${state}: Claude Code used the conversation ${reportedSession} instead of the one it was given; the agent continues in that one`;
  return [{ kind: 'warning', at, agent, state, message }];
}

/** True if the budget is used up. */
export function isOverBudget({ options, ledger }: Run): boolean {
  return options.budgetMicros !== null && ledger.spentMicros >= options.budgetMicros;
}
