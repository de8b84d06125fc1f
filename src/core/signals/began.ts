import { type Agent, type SessionUse, type TurnRecord, visitsOf } from '../agent.ts';
import type { Event, Step } from '../event.ts';
import { isPrompt } from '../names.ts';
import type { Rules } from '../policy.ts';
import type { Session } from '../position.ts';
import { agentOf, type Run, withAgent } from '../run.ts';
import type { Began } from '../signal.ts';

/** Puts a turn on record, or refuses it where a limit has been reached. */
export function began(run: Run, signal: Began): Step {
  const agent = agentOf(run, signal.agent);
  if (agent.phase.kind !== 'ready') throw new Error(`${agent.id} is ${agent.phase.kind}: it cannot begin a turn`);
  if (run.stop !== null) return { run, events: [] };
  const entering = agent.rules === null ? signal.rules : null;
  const refusal = entering === null ? undefined : refuse(run, agent, entering, signal.at);
  if (refusal !== undefined) return refusal;

  const turn: TurnRecord = {
    number: agent.turns + 1,
    prompt: agent.phase.prompt,
    session: isPrompt(agent.state) ? sessionUse(agent.session, signal.sessionId) : null,
    startedAt: signal.at,
  };
  const running: Agent = {
    ...agent,
    turns: turn.number,
    tries: agent.tries + 1,
    rules: signal.rules ?? agent.rules,
    visits: entering === null ? agent.visits : { ...agent.visits, [agent.state]: visitsOf(agent) + 1 },
    phase: { kind: 'running', turn },
  };
  const place = { at: signal.at, agent: agent.id, state: agent.state };
  const started: Event = {
    kind: 'turn_started',
    ...place,
    turn: turn.number,
    prompt: turn.prompt.kind,
    session: turn.session,
  };
  return {
    run: withAgent({ ...run, iterations: run.iterations + (entering === null ? 0 : 1) }, running),
    events: [...signal.warnings.map((message): Event => ({ kind: 'warning', ...place, message })), started],
  };
}

/** The step that keeps every agent from entering a state, if there have been as many executions as the run may have. */
export function refuseAll(run: Run, at: number): Step | undefined {
  const { maxIterations } = run.options;
  if (maxIterations === null || run.iterations < maxIterations) return undefined;
  const stop = { kind: 'iterations' } as const;
  return { run: { ...run, stop }, events: [{ kind: 'run_stopping', at, stop }] };
}

/** The step that keeps an agent from entering its state, if a limit does. */
function refuse(run: Run, agent: Agent, rules: Rules, at: number): Step | undefined {
  const over = refuseAll(run, at);
  if (over !== undefined) return over;
  const { maxVisits } = rules;
  if (maxVisits === null || visitsOf(agent) < maxVisits) return undefined;
  return {
    run: withAgent(run, { ...agent, phase: { kind: 'limited', maxVisits } }),
    events: [{ kind: 'visit_limit', at, agent: agent.id, state: agent.state, maxVisits }],
  };
}

function sessionUse(session: Session | null, newId: string): SessionUse {
  if (session === null) return { kind: 'new', id: newId };
  if (session.kind === 'open') return { kind: 'resume', id: session.id };
  return { kind: 'fork', id: newId, from: session.of };
}
