import { endCompaction } from '../compaction.ts';
import type { Step } from '../event.ts';
import { followAnswer, requestedTags } from '../follow-answer.ts';
import { goOnOtherwise } from '../interruption.ts';
import { openSessionOf } from '../left-state.ts';
import { type Run, withAgent } from '../run.ts';
import type { Answered } from '../signal.ts';
import { afterCancelled, isOverBudget, recordTurnEnd } from './turn-end.ts';

/** Follows the answer of a turn, unless the budget is used up: then it is kept for a resume with a higher one. */
export function handleAnswered(run: Run, signal: Answered): Step {
  const { agent: id, at, cost, denials, text, folders, files = {}, workflows = {}, scope, fingerprint } = signal;
  const { results = {}, matches = [], evaluated = { folders: {} } } = signal;
  const { reportedSession = null } = signal;
  const ended = recordTurnEnd(run, {
    agent: id,
    at,
    cost,
    sessionKept: true,
    reportedSession,
    failure: null,
    denials,
    prints: signal.prints,
  });
  const { agent, turn } = ended;
  if (ended.isCancelled) return afterCancelled(ended, at);
  if (ended.interruption !== null) return goOnOtherwise(ended, ended.interruption, true, at);
  if (turn.prompt.kind === 'compact') {
    // An answer says why there is no summary.
    const next = endCompaction(ended.run, agent, at, text === '' ? null : text);
    return { run: next.run, events: [...ended.events, ...next.events] };
  }
  const known = {
    text,
    denials,
    folders,
    files,
    workflows,
    results,
    matches,
    evaluated,
    ...(fingerprint && { fingerprint }),
  };
  const answer = { ...known, scope, at };
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
          ...requestedTags(ended.run, agent, answer),
          session: openSessionOf(agent),
          sessionUse: agent.sessionUse,
          cwd: agent.cwd,
          costMicros: agent.stateMicros,
        },
      ],
    };
  }
  const next = followAnswer(ended.run, agent, answer);
  return { ...next, events: [...ended.events, ...next.events] };
}
