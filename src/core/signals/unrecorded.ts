import type { Event, Step } from '../run/event.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import type { Unrecorded, UnrecordedTurn } from './signal.ts';
import { recordTurnEnd } from './turn-end.ts';

/**
 * Enters turns that the journal has no record of, so that the agent continues with the number after theirs; or pauses the agent
 * until the user wants that, because what these turns did may be done again.
 */
export function handleUnrecorded(run: Run, { agent: id, at, message, turns, enter }: Unrecorded): Step {
  const agent = getAgent(run, id);
  if (agent.phase.kind !== 'ready') throw new Error(`${id} is ${agent.phase.kind}: it is not about to begin a turn`);
  const eventBase = { at, agent: id, state: agent.state };
  if (!enter) {
    const phase = { kind: 'paused', why: 'interrupted', message, prompt: agent.phase.prompt } as const;
    return {
      run: withAgent(run, { ...agent, phase }),
      events: [{ kind: 'agent_paused', ...eventBase, why: 'interrupted', message }],
    };
  }
  let next = run;
  const events: Event[] = [{ kind: 'warning', ...eventBase, message }];
  for (const turn of turns) {
    const entered = enterTurn(next, id, turn);
    next = entered.run;
    events.push(...entered.events);
  }
  const { phase, state, evaluation } = agent;
  return { run: withAgent(next, { ...getAgent(next, id), phase, state, evaluation }), events };
}

/** Enters one turn as if it had been recorded and had failed. */
function enterTurn(run: Run, id: string, { number, state, session, cost, startedAt, endedAt }: UnrecordedTurn): Step {
  const agent = getAgent(run, id);
  const prompt = { kind: 'state' } as const;
  const sessionUse = session === null && cost === null ? null : ({ kind: 'new', id: session ?? 'unknown' } as const);
  const turn = { number, prompt, session: sessionUse, startedAt, capMicros: null };
  const begun = withAgent(run, { ...agent, state, evaluation: null, turns: number, phase: { kind: 'running', turn } });
  const report = { agent: id, at: endedAt, cost, sessionKept: false, failure: 'interrupted', denials: [] } as const;
  const ended = recordTurnEnd(begun, report);
  return {
    run: ended.run,
    events: [
      {
        kind: 'turn_started',
        at: startedAt,
        agent: id,
        state,
        evaluator: null,
        turn: number,
        prompt: 'state',
        session: sessionUse,
      },
      ...ended.events,
    ],
  };
}
