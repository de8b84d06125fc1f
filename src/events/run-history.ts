import type { Event, Transitioned } from '../core/event.ts';
import { NO_WORK_TIME, updateWorkTime, type WorkTime } from './work-time.ts';

/** The duration of an agent's finished turns, and the time of its last event. */
export interface AgentHistory {
  readonly turnsMs: number;
  readonly lastAt: number;
}

/** The facts about a run that only its events have. */
export interface RunHistory {
  readonly worked: WorkTime;
  /** The latest transitions, in order. */
  readonly transitions: readonly Transitioned[];
  readonly agents: ReadonlyMap<string, AgentHistory>;
}

/** Reads all events of a run and keeps its latest `maxTransitions` transitions. */
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
 * The states that each agent has entered, in order; agents in the order of their start. A state counts as entered when its
 * turn starts, or when it cannot be read; not if `max_visits` or a stop kept the agent out of it.
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
