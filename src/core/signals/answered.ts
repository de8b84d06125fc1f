import { openSessionOf } from '../answers/end-agent.ts';
import { followAnswer, requestedTags } from '../answers/follow-answer.ts';
import type { Step } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import { endCompaction } from '../turns/compaction.ts';
import { goOnOtherwise } from '../turns/interruption.ts';
import type { Answered } from './signal.ts';
import { afterCancelled, isOverBudget, recordTurnEnd } from './turn-end.ts';

/** Follows the answer of a turn, unless the budget is used up: then it is kept for a resume with a higher one. */
export function handleAnswered(run: Run, signal: Answered): Step {
  const { agent: id, at, cost, denials, text, folders, fingerprint, reportedSession = null } = signal;
  const ended = recordTurnEnd(run, {
    agent: id,
    at,
    cost,
    sessionKept: true,
    reportedSession,
    model: signal.model,
    failure: null,
    denials,
    prints: signal.prints,
    message: signal.message,
  });
  const { agent, turn } = ended;
  if (ended.isCancelled) return afterCancelled(ended, at);
  if (ended.interruption !== null) return goOnOtherwise(ended, ended.interruption, true, at);
  if (turn.prompt.kind === 'compact') {
    // An answer says why there is no summary.
    const next = endCompaction(ended.run, agent, at, text === '' ? null : text);
    return { run: next.run, events: [...ended.events, ...next.events] };
  }
  if (isOverBudget(ended.run)) {
    const phase = { kind: 'withheld', text, denials, folders, ...(fingerprint && { fingerprint }) } as const;
    return {
      run: withAgent(ended.run, { ...agent, phase }),
      events: [
        ...ended.events,
        {
          kind: 'answer_withheld',
          at,
          agent: id,
          state: agent.state,
          ...requestedTags(ended.run, agent, signal),
          session: openSessionOf(agent),
          sessionUse: agent.sessionUse,
          cwd: agent.cwd,
          costMicros: agent.stateMicros,
        },
      ],
    };
  }
  const next = followAnswer(ended.run, agent, signal);
  return { ...next, events: [...ended.events, ...next.events] };
}
