import type { Agent } from '../run/agent.ts';
import type { Transitioned } from '../run/event.ts';

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
