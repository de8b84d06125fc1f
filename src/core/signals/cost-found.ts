import type { Agent } from '../run/agent.ts';
import { indexOfAgent } from '../run/agent-index.ts';
import type { Event, Step } from '../run/event.ts';
import { addMicros, believableCost, replaceUnknown, type UnknownCost } from '../run/ledger.ts';
import { type Run, withAgent } from '../run/run.ts';
import { strongerStop } from '../run/status.ts';
import { splitCost, sumTokens } from '../run/tokens.ts';
import type { CostFound } from './signal.ts';
import { isOverBudget } from './turn-end.ts';

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
