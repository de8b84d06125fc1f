import type { Run } from '../run/run.ts';
import type { Answered } from '../signals/signal.ts';
import { step } from '../step.ts';
import { type ClaudeTurn, due } from './due.ts';

/** The Claude turn that opens a conversation, of the agent or of a new worker, if the agent's running turn is answered so. */
export function freshTurnAfter(run: Run, answered: Answered): ClaudeTurn | undefined {
  const others = new Set(run.agents.flatMap(({ id }) => (id === answered.agent ? [] : [id])));
  return due(step(run, answered).run, others).find(
    (turn): turn is ClaudeTurn => turn.kind === 'claude' && turn.isFresh && turn.record === null,
  );
}
