import type { Agent } from '../core/agent.ts';
import { usdOf } from '../core/ledger.ts';
import type { Session } from '../core/position.ts';
import { isLive } from '../core/standing.ts';
import type { History } from './history.ts';
import { outlookOf, type Situation } from './outlook.ts';
import { workedMs } from './worked.ts';

/** Where a run stands, as one document. Names and words are those of the document that a run ends with. */
export function standingDocument(situation: Situation, history: History, now: number): unknown {
  const { run, standing, owner } = situation;
  const { waitsFor, commands } = outlookOf(situation, now);
  const { budgetMicros, maxIterations } = run.options;
  return {
    run_id: run.id,
    name: run.name,
    workflow: run.workflow.name,
    workflow_path: run.workflow.path,
    status: standing,
    owner,
    started_at: iso(run.startedAt),
    worked_ms: workedMs(history.worked, endOf(situation, history, now)),
    cost_usd: usdOf(run.ledger.spentMicros),
    estimated_usd: usdOf(run.ledger.estimatedMicros),
    budget_usd: budgetMicros === null ? null : usdOf(budgetMicros),
    iterations: run.iterations,
    max_iterations: maxIterations,
    agents: run.agents.map((agent) => agentDocument(agent, history)),
    transitions: history.transitions.map(({ at, agent, state, tag, to, costMicros }) => {
      return { at: iso(at), agent, from: state, tag, to, cost_usd: usdOf(costMicros) };
    }),
    waits_for: waitsFor.join(' '),
    next: commands[0]?.command ?? null,
  };
}

/** Up to when a run was at work: until now if somebody drives it, else until it was last heard of. */
export const endOf = ({ standing }: Situation, { worked }: History, now: number): number =>
  isLive(standing) ? now : (worked.life?.lastAt ?? now);

/** The conversation that an agent is in; null if it has none yet. */
export function sessionOf({ phase, session }: Agent): string | null {
  if (phase.kind === 'running' && phase.turn.session !== null) return phase.turn.session.id;
  return idOf(session);
}

/** A branch has no id before its first turn. */
const idOf = (session: Session | null): string | null => (session?.kind === 'open' ? session.id : null);

function agentDocument(agent: Agent, { agents }: History): unknown {
  const { id, parent, state, phase, stack, turns, costMicros } = agent;
  const { turnsMs = 0, lastAt = null } = agents.get(id) ?? {};
  const since = phase.kind === 'running' ? phase.turn.startedAt : lastAt;
  return {
    id,
    parent,
    status: phase.kind,
    state,
    since: since === null ? null : iso(since),
    until: phase.kind === 'sleeping' ? iso(phase.untilMs) : null,
    result: phase.kind === 'ended' ? phase.result : null,
    error: phase.kind === 'failed' || phase.kind === 'paused' ? phase.message : null,
    session_id: sessionOf(agent),
    stack: stack.map((frame) => ({ state: frame.state, session_id: idOf(frame.session) })),
    turns,
    turns_ms: turnsMs,
    cost_usd: usdOf(costMicros),
  };
}

const iso = (at: number): string => new Date(at).toISOString();
