import type { Agent } from '../core/agent.ts';
import type { Event } from '../core/event.ts';
import { microsToUsd } from '../core/ledger.ts';
import { isLive } from '../core/observed-status.ts';
import type { Session } from '../core/position.ts';
import type { Run } from '../core/run.ts';
import { EXIT } from '../errors.ts';
import { createTransitionFields } from './event-document.ts';
import { formatIso } from './format.ts';
import { describeNextSteps, type RunSituation } from './next-steps.ts';
import type { RunHistory } from './run-history.ts';
import { computeWorkMs } from './work-time.ts';

const EXIT_CODES = {
  running: EXIT.paused,
  completed: EXIT.completed,
  failed: EXIT.failed,
  waiting: EXIT.waiting,
  paused: EXIT.paused,
  budget_exceeded: EXIT.limit,
  iteration_limit: EXIT.limit,
  interrupted: EXIT.interrupted,
} as const satisfies Record<Run['status'], number>;

/** The exit code of the command that drove this run. */
export const exitCodeOf = (run: Run): number => EXIT_CODES[run.status];

/** The document of `--json` about a whole run, the same after a start and a resume. `events` are all of its events. */
export function createRunDocument(run: Run, events: readonly Event[]): unknown {
  const ended = run.agents.flatMap(({ id, phase }) => (phase.kind === 'ended' ? [[id, phase.result] as const] : []));
  return {
    run_id: run.id,
    status: run.status,
    exit_code: exitCodeOf(run),
    results: Object.fromEntries(ended),
    cost_usd: microsToUsd(run.ledger.spentMicros),
    agents: run.agents.map(createAgentResult),
    transitions: events.filter((event) => event.kind === 'transition').map(createTransitionFields),
  };
}

function createAgentResult({ id, state, phase }: Agent): unknown {
  return {
    id,
    status: phase.kind,
    state,
    result: phase.kind === 'ended' ? phase.result : null,
    error: phase.kind === 'failed' || phase.kind === 'paused' ? phase.message : null,
  };
}

/** The fields that the status document and the list of runs have in common. */
export const createRunFields = (
  run: Pick<Run, 'id' | 'name' | 'workflow' | 'startedAt'> & Pick<RunSituation, 'observedStatus' | 'owner'>,
): object => ({
  run_id: run.id,
  name: run.name,
  workflow: run.workflow.name,
  workflow_path: run.workflow.path,
  status: run.observedStatus,
  owner: run.owner,
  started_at: formatIso(run.startedAt),
});

/** The document of `raymond status --json`. */
export function createStatusDocument(situation: RunSituation, history: RunHistory, now: number): unknown {
  const { run, observedStatus, owner } = situation;
  const { waitsFor, commands } = describeNextSteps(situation, now);
  const { budgetMicros, maxIterations } = run.options;
  return {
    ...createRunFields({ ...run, observedStatus, owner }),
    worked_ms: computeWorkMs(history.worked, findWorkEndMs(situation, history, now)),
    cost_usd: microsToUsd(run.ledger.spentMicros),
    estimated_usd: microsToUsd(run.ledger.estimatedMicros),
    budget_usd: budgetMicros === null ? null : microsToUsd(budgetMicros),
    iterations: run.iterations,
    max_iterations: maxIterations,
    agents: run.agents.map((agent) => createAgentStatus(agent, history)),
    transitions: history.transitions.map((event) => ({ at: formatIso(event.at), ...createTransitionFields(event) })),
    waits_for: waitsFor.join(' '),
    next: commands[0]?.command ?? null,
  };
}

/** The time until which a run was at work: now if a process drives it, else its last event. */
export const findWorkEndMs = ({ observedStatus }: RunSituation, { worked }: RunHistory, now: number): number =>
  isLive(observedStatus) ? now : (worked.period?.lastAt ?? now);

/** The Claude Code session that an agent is in; null if it has none yet. */
export function getSessionId({ phase, session }: Agent): string | null {
  if (phase.kind === 'running' && phase.turn.session !== null) return phase.turn.session.id;
  return getOpenSessionId(session);
}

/** The id of a session; null before the first turn of a fork, which has none yet. */
const getOpenSessionId = (session: Session | null): string | null => (session?.kind === 'open' ? session.id : null);

function createAgentStatus(agent: Agent, { agents }: RunHistory): unknown {
  const { id, parent, state, phase, stack, turns, costMicros } = agent;
  const { turnsMs = 0, lastAt = null } = agents.get(id) ?? {};
  const since = phase.kind === 'running' ? phase.turn.startedAt : lastAt;
  return {
    id,
    parent,
    status: phase.kind,
    state,
    since: since === null ? null : formatIso(since),
    until: phase.kind === 'sleeping' ? formatIso(phase.untilMs) : null,
    result: phase.kind === 'ended' ? phase.result : null,
    error: phase.kind === 'failed' || phase.kind === 'paused' ? phase.message : null,
    session_id: getSessionId(agent),
    stack: stack.map((frame) => ({ state: frame.state, session_id: getOpenSessionId(frame.session) })),
    turns,
    turns_ms: turnsMs,
    cost_usd: microsToUsd(costMicros),
  };
}
