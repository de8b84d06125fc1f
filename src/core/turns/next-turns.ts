import type { Session } from '../../language/position.ts';
import { type Agent, isDonePhase } from '../run/agent.ts';
import type { Run } from '../run/run.ts';
import type { Answered } from '../signals/signal.ts';
import { step } from '../step.ts';
import { due, type PromptTurn } from './due.ts';

/** The Claude turn that opens a conversation, of the agent or of a new worker, if the agent's running turn is answered so. */
export function freshTurnAfter(run: Run, answered: Answered): PromptTurn | undefined {
  const others = new Set(run.agents.flatMap(({ id }) => (id === answered.agent ? [] : [id])));
  return due(step(run, answered).run, others).find(
    (turn): turn is PromptTurn => turn.kind === 'claude' && turn.isFresh && turn.record === null,
  );
}

/** True if an agent may continue in this conversation: in its state, in that of its evaluator or after a return. */
export function usesConversation({ phase, evaluation, session, stack }: Agent, id: string): boolean {
  if (isDonePhase(phase)) return false;
  const isThis = (each: Session | null): boolean => each?.kind === 'open' && each.id === id;
  return isThis(session) || isThis(evaluation?.session ?? null) || stack.some((frame) => isThis(frame.session));
}
