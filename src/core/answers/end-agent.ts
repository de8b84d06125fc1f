import type { Agent, DonePhase, Phase } from '../run/agent.ts';
import type { Event, Step, Transitioned } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import { unheardWarning } from '../run/say.ts';

/** Ends an agent, with its result or otherwise. One that works in a worktree of its own leaves that first. */
export function endAgent(run: Run, agent: Agent, outcome: DonePhase, at: number): Step {
  const phase = endingPhase(agent, outcome);
  if (phase.kind !== 'worktree') return finishAgent(run, agent, outcome, at);
  return { run: withAgent(run, { ...agent, phase }), events: [leavingEvent(agent, at)] };
}

/** Ends an agent that works in no worktree, or has left it. */
export function finishAgent(run: Run, agent: Agent, outcome: DonePhase, at: number): Step {
  const unheard = outcome.kind === 'ended' || outcome.kind === 'cancelled' ? unheardWarning(agent, at) : [];
  const messages = unheard.length === 0 ? agent.messages : [];
  return {
    run: withAgent(run, { ...agent, messages, phase: outcome }),
    events: [...unheard, endEvent(agent, outcome, at)],
  };
}

/** Ends an agent that cannot continue; its siblings are left alone. */
export const failAgent = (run: Run, agent: Agent, message: string, at: number): Step =>
  endAgent(run, agent, { kind: 'failed', message }, at);

/** The phase of an agent that is to end so. What is half made of its worktree is removed first, too. */
export function endingPhase({ worktree, phase }: Agent, outcome: DonePhase): Phase {
  const hasWorktree = worktree?.kind === 'made' || phase.kind === 'worktree';
  return hasWorktree ? { kind: 'worktree', outcome } : outcome;
}

/** The event of an agent that begins to leave its worktree. */
export const leavingEvent = ({ id, state }: Agent, at: number): Event => ({
  kind: 'worktree_leaving',
  at,
  agent: id,
  state,
});

/** The event of an agent's end. */
export function endEvent({ id, state }: Agent, outcome: DonePhase, at: number): Event {
  const eventBase = { at, agent: id, state };
  switch (outcome.kind) {
    case 'ended':
      return { kind: 'agent_ended', ...eventBase, result: outcome.result };
    case 'failed':
      return { kind: 'agent_failed', ...eventBase, message: outcome.message };
    case 'limited':
      return { kind: 'visit_limit', ...eventBase, maxVisits: outcome.maxVisits };
    case 'cancelled':
      return { kind: 'agent_cancelled', ...eventBase, by: outcome.by };
  }
}

/** True if an agent has come to its end and only leaves its worktree. */
export const isDraining = ({ phase }: Pick<Agent, 'phase'>): boolean =>
  phase.kind === 'worktree' && phase.outcome !== null;

/** The facts in an event about the state that an agent leaves. */
type LeftState = Pick<
  Transitioned,
  'agent' | 'state' | 'session' | 'sessionUse' | 'cwd' | 'depth' | 'costMicros' | 'tokens'
>;

/** The facts about the state that an agent leaves, for an agent that stays in its folder and keeps its callers. */
export const leftStateOf = (agent: Agent): LeftState => ({
  agent: agent.id,
  state: agent.state,
  session: openSessionOf(agent),
  sessionUse: agent.sessionUse,
  cwd: agent.cwd,
  depth: agent.stack.length,
  costMicros: agent.stateMicros,
  tokens: agent.stateTokens,
});

/** The id of an agent's own conversation; null if it has none of its own yet. */
export const openSessionOf = ({ session }: Agent): string | null => (session?.kind === 'open' ? session.id : null);
