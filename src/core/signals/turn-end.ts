import type { Agent, RunningTurn } from '../agent.ts';
import type { Event } from '../event.ts';
import type { FailureKind } from '../failure.ts';
import { type CostReport, enterCost } from '../ledger.ts';
import { getAgent, type Run, withAgent } from '../run.ts';
import { strongerStop } from '../status.ts';

/** A run after the end of a turn, before anything is done about how it ended. */
export interface FinishedTurn {
  readonly run: Run;
  readonly agent: Agent;
  readonly turn: RunningTurn;
  readonly events: readonly Event[];
}

interface TurnReport {
  readonly agent: string;
  readonly at: number;
  readonly cost: CostReport | null;
  /** Whether the conversation of the turn exists and can be continued. */
  readonly sessionKept: boolean;
  readonly failure: FailureKind | null;
  readonly denials: readonly string[];
}

/** Records the end of a turn, whether it succeeded or failed: its cost and its conversation. */
export function recordTurnEnd(run: Run, report: TurnReport): FinishedTurn {
  const before = getAgent(run, report.agent);
  if (before.phase.kind !== 'running') throw new Error(`${before.id} is ${before.phase.kind}: it has no turn to end`);
  const { turn } = before.phase;
  const isClaudeTurn = turn.session !== null;
  const estimated = report.cost?.kind === 'estimated';
  const micros = Math.max(0, report.cost?.micros ?? 0);
  const agent: Agent = {
    ...before,
    session: turn.session === null || !report.sessionKept ? before.session : { kind: 'open', id: turn.session.id },
    costMicros: before.costMicros + micros,
    stateMicros: before.stateMicros + micros,
  };
  const ledger =
    isClaudeTurn && report.cost !== null ? enterCost(run.ledger, agent.state, micros, estimated) : run.ledger;
  const ended: Event = {
    kind: 'turn_ended',
    at: report.at,
    agent: agent.id,
    state: agent.state,
    turn: turn.number,
    session: turn.session?.id ?? null,
    costMicros: micros,
    estimated,
    spentMicros: ledger.spentMicros,
    durationMs: report.at - turn.startedAt,
    failure: report.failure,
    denials: report.denials,
  };
  const charged = withAgent({ ...run, ledger }, agent);
  if (!isOverBudget(charged) || isOverBudget(run)) return { run: charged, agent, turn, events: [ended] };
  const stop = strongerStop(run.stop, { kind: 'budget' });
  return {
    run: { ...charged, stop },
    agent,
    turn,
    events: [ended, { kind: 'run_stopping', at: report.at, stop: { kind: 'budget' } }],
  };
}

/** Whether the budget is used up. */
export function isOverBudget({ options, ledger }: Run): boolean {
  return options.budgetMicros !== null && ledger.spentMicros >= options.budgetMicros;
}
