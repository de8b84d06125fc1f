import { type Agent, recordedTurn } from '../core/run/agent.ts';
import { indexOfAgent } from '../core/run/agent-index.ts';
import type { Run } from '../core/run/run.ts';
import type { TurnRef } from '../core/turns/due.ts';
import { usesConversation } from '../core/turns/next-turns.ts';
import type { Conversation } from './conversation.ts';

/** True if a turn of the run, as it is on disk, may come for a conversation that has none. */
export function isNeeded(run: Run, opener: TurnRef, conversation: Conversation): boolean {
  if (conversation.kind === 'waiting') return isAwaited(run, opener, conversation.reservedFor);
  if (conversation.kind !== 'idle' || !conversation.isSaved) return true;
  const agent = findAgent(run, conversation.lastTurn.agent);
  return agent !== undefined && usesConversation(agent, conversation.session);
}

const findAgent = ({ agents }: Run, id: string): Agent | undefined => agents[indexOfAgent(agents, id)];

/** True if the end of a turn is not on disk. */
export function isOnRecord(run: Run, { agent: id, number }: TurnRef): boolean {
  const agent = findAgent(run, id);
  return agent !== undefined && recordedTurn(agent.phase)?.number === number;
}

/** True if a process that was started early may still get a prompt: the turn before is under way, or the next one on record. */
function isAwaited(run: Run, opener: TurnRef, reserved: TurnRef | null): boolean {
  if (run.stop !== null) return false;
  const agent = findAgent(run, (reserved ?? opener).agent);
  if (agent === undefined) return false;
  // The turn that has reserved it may not be on record yet.
  if (reserved !== null) return agent.turns < reserved.number || isOnRecord(run, reserved);
  return agent.turns === opener.number && (recordedTurn(agent.phase) !== null || agent.phase.kind === 'ready');
}
