import type { Agent } from '../run/agent.ts';
import { indexOfAgent } from '../run/agent-index.ts';
import type { Event, Step } from '../run/event.ts';
import { addMicros, believableCost, replaceUnknown, type UnknownCost } from '../run/ledger.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { strongerStop } from '../run/status.ts';
import { splitCost, sumTokens } from '../run/tokens.ts';
import type { CostFound, Unrecorded, UnrecordedTurn } from './signal.ts';
import { isOverBudget, recordTurnEnd } from './turn-end.ts';

/** Enters the cost of a turn that was unknown when it ended. Each is entered once; any other is known already. */
export function handleCostFound(run: Run, { at, about, turn, cost: found }: CostFound): Step {
  const entry = run.ledger.unknown?.find((each) => each.agent === about.agent && each.turn === turn);
  if (entry === undefined) return { run, events: [] };
  const { state, evaluator } = entry;
  const cost = believableCost(found);
  const { micros, canned = false } = cost;
  const models = splitCost(micros, cost.models ?? []);
  const estimated = cost.kind !== 'reported';
  const ledger = replaceUnknown(run.ledger, entry, { micros, estimated, canned, tokens: sumTokens(models) });
  const charged = chargeAgent({ ...run, ledger }, entry, micros - entry.micros);
  const figures = { costMicros: micros, estimated, canned, models, spentMicros: ledger.spentMicros };
  const corrected: Event = {
    kind: 'cost_corrected',
    at,
    agent: entry.agent,
    state,
    evaluator,
    turn,
    formerMicros: entry.micros,
    formerCanned: entry.canned,
    ...figures,
  };
  if (!isOverBudget(charged) || isOverBudget(run) || run.status !== 'running')
    return { run: charged, events: [corrected] };
  const stop = strongerStop(run.stop, { kind: 'budget' });
  return {
    run: { ...charged, stop },
    events: [corrected, { kind: 'run_stopping', at, stop: { kind: 'budget' } }],
  };
}

/** Charges the agent of the turn with the difference, unless it was archived. */
function chargeAgent(run: Run, { agent: id, state, micros }: UnknownCost, moreMicros: number): Run {
  const agent = run.agents[indexOfAgent(run.agents, id)];
  if (agent === undefined) return run;
  const isStillThere = agent.state === state && agent.stateMicros >= micros;
  const charged: Agent = {
    ...agent,
    costMicros: addMicros(agent.costMicros, moreMicros),
    stateMicros: isStillThere ? addMicros(agent.stateMicros, moreMicros) : agent.stateMicros,
  };
  return withAgent(run, charged);
}

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
