import type { Session } from '../../language/position.ts';
import type { Agent } from '../run/agent.ts';
import { isDonePhase } from '../run/done-phase.ts';

/** True if an agent may continue in this conversation: in its state, in that of its evaluator or after a return. */
export function usesConversation({ phase, evaluation, session, stack }: Agent, id: string): boolean {
  if (isDonePhase(phase)) return false;
  const isThis = (each: Session | null): boolean => each?.kind === 'open' && each.id === id;
  return isThis(session) || isThis(evaluation?.session ?? null) || stack.some((frame) => isThis(frame.session));
}
