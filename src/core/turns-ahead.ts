import { type ClaudeTurn, due } from './due.ts';
import type { Run } from './run.ts';
import type { Answered } from './signal.ts';
import { step } from './step.ts';

/** The Claude turn that opens a conversation, of the agent or of a new worker, if the agent's running turn is answered so. */
export function freshTurnAfter(run: Run, answered: Answered): ClaudeTurn | undefined {
  const others = new Set(run.agents.flatMap(({ id }) => (id === answered.agent ? [] : [id])));
  return due(step(run, answered).run, others).find(
    (turn): turn is ClaudeTurn => turn.kind === 'claude' && turn.isFresh && turn.record === null,
  );
}
