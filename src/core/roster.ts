import type { Agent, Phase } from './agent.ts';

type Agents = readonly Agent[];

/** How many agents are in each phase. */
export type Tally = Readonly<Record<Phase['kind'], number>>;

/**
 * What would take a look at every agent to find out, remembered for each list of agents. It is derived from the list
 * alone: nobody can see whether it was remembered or found out anew.
 *
 * Agents come and never leave, so their places are the same in all lists that grew out of one; those lists share them.
 */
interface Notes {
  readonly places: Map<string, number>;
  readonly tally: Tally;
}

const NOTES = new WeakMap<Agents, Notes>();

/** The place of an agent in the list, or -1. */
export function placeOf(agents: Agents, id: string): number {
  const place = notesOf(agents).places.get(id);
  // The places are shared with lists that have grown further, perhaps another way.
  if (place === undefined || agents[place]?.id === id) return place ?? -1;
  return agents.findIndex((agent) => agent.id === id);
}

/** How many agents of the list are in each phase. */
export const tallyOf = (agents: Agents): Tally => notesOf(agents).tally;

/** The list with one agent in the place of its former self. */
export function replaced(agents: Agents, place: number, agent: Agent): Agents {
  const { places, tally } = notesOf(agents);
  const before = agents[place];
  if (before?.id !== agent.id) throw new Error(`agent ${agent.id} is not in place ${place}`);
  // Not `with`, which looks at each element; this copies them as a block.
  const next = agents.slice();
  next[place] = agent;
  NOTES.set(next, { places, tally: counted(tally, before.phase.kind, agent.phase.kind) });
  return next;
}

/** The list with agents that were born. */
export function joined(agents: Agents, born: Agents): Agents {
  const { places, tally } = notesOf(agents);
  const next = [...agents, ...born];
  const grown = { ...tally };
  born.forEach(({ id, phase }, index) => {
    places.set(id, agents.length + index);
    grown[phase.kind] += 1;
  });
  NOTES.set(next, { places, tally: grown });
  return next;
}

function notesOf(agents: Agents): Notes {
  const known = NOTES.get(agents);
  if (known !== undefined) return known;
  const tally = { ready: 0, running: 0, sleeping: 0, withheld: 0, limited: 0, paused: 0, failed: 0, ended: 0 };
  const places = new Map<string, number>();
  agents.forEach(({ id, phase }, place) => {
    places.set(id, place);
    tally[phase.kind] += 1;
  });
  const notes = { places, tally };
  NOTES.set(agents, notes);
  return notes;
}

const counted = (tally: Tally, left: Phase['kind'], entered: Phase['kind']): Tally =>
  left === entered ? tally : { ...tally, [left]: tally[left] - 1, [entered]: tally[entered] + 1 };
