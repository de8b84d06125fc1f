import type { StateDef } from '../case.ts';
import type { ModelAgent } from './model-agent.ts';
import { Mismatch, note, type RunModel } from './run-model.ts';

/** The reason for which an agent has no result that may not enter its state again. */
export const limitText = (maxVisits: number | null): string =>
  `it has entered its state ${maxVisits} ${maxVisits === 1 ? 'time' : 'times'}, as often as \`max_visits\` permits`;

/** The limit of visits that keeps an agent from entering its state. */
export function requireReached(model: RunModel, agent: ModelAgent): StateDef {
  const def = model.def(agent.state);
  const counted = (def.perCall ? agent.callVisits : agent.visits).get(agent.state) ?? 0;
  if (agent.phase !== 'ready' || agent.isEntered || def.maxVisits === null || counted < def.maxVisits)
    throw new Mismatch(`it is ${agent.phase} and has entered ${agent.state} ${counted} times of ${def.maxVisits}`);
  note(agent, def.perCall ? 'max_visits_per' : 'max_visits');
  return def;
}
