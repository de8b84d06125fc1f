import type { Event } from '../core/event.ts';

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
