import type { Event, Transitioned } from '../core/event.ts';
import { NO_WORK_TIME, updateWorkTime, type WorkTime } from './work-time.ts';

/** What an agent has done so far: how long its finished turns took, and when it was last heard of. */
export interface AgentHistory {
  readonly turnsMs: number;
  readonly lastAt: number;
}

/** What the events of a run tell that the run itself does not keep. */
export interface RunHistory {
  readonly worked: WorkTime;
  /** The latest transitions, in order. */
  readonly transitions: readonly Transitioned[];
  readonly agents: ReadonlyMap<string, AgentHistory>;
}

/** Reads the whole story of a run and keeps what is worth knowing at its end; so many transitions are `kept`. */
export async function collectHistory(events: AsyncIterable<Event>, maxTransitions: number): Promise<RunHistory> {
  let worked = NO_WORK_TIME;
  const transitions: Transitioned[] = [];
  const agents = new Map<string, AgentHistory>();
  for await (const event of events) {
    worked = updateWorkTime(worked, event);
    if (event.kind === 'transition') transitions.push(event);
    if (transitions.length > maxTransitions) transitions.shift();
    if (!('agent' in event)) continue;
    const { turnsMs = 0 } = agents.get(event.agent) ?? {};
    const tookMs = event.kind === 'turn_ended' ? event.durationMs : 0;
    agents.set(event.agent, { turnsMs: turnsMs + tookMs, lastAt: event.at });
  }
  return { worked, transitions, agents };
}

/**
 * The states that each agent has entered, in order; agents in the order of their birth. Who was sent to a state and kept out of
 * it, by `max_visits` or because the run was to end, has not been there. Who could not read it was.
 */
export function collectAgentPaths(events: readonly Event[]): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, string[]>();
  const agentsInState = new Set<string>();
  for (const event of events) {
    if (event.kind === 'agent_started') paths.set(event.agent, []);
    if (event.kind === 'transition') agentsInState.delete(event.agent);
    if ((event.kind !== 'turn_started' && event.kind !== 'agent_paused') || agentsInState.has(event.agent)) continue;
    agentsInState.add(event.agent);
    paths.get(event.agent)?.push(event.state);
  }
  return paths;
}
