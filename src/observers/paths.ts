import type { Event } from '../core/event.ts';

/** The states that each agent has come to, in order; agents in the order of their birth. */
export function pathsOf(events: readonly Event[]): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, string[]>();
  for (const event of events) {
    if (event.kind === 'agent_started') paths.set(event.agent, [event.state]);
    if (event.kind === 'transition' && event.to !== null) paths.get(event.agent)?.push(event.to);
  }
  return paths;
}
