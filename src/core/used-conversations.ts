import type { Agent } from './agent.ts';
import { isDonePhase } from './done-phase.ts';
import type { Session } from './position.ts';

/** Whether an agent may go on in this conversation: in its state, in that of its evaluator or after a return. */
export function usesConversation({ phase, evaluation, session, stack }: Agent, id: string): boolean {
  if (isDonePhase(phase)) return false;
  const isThis = (each: Session | null): boolean => each?.kind === 'open' && each.id === id;
  return isThis(session) || isThis(evaluation?.session ?? null) || stack.some((frame) => isThis(frame.session));
}
