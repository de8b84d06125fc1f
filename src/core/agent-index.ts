import type { Agent, Phase } from './agent.ts';

type Agents = readonly Agent[];

/** The number of agents in each phase. */
export type PhaseCounts = Readonly<Record<Phase['kind'], number>>;

/**
 * Caches, for each list of agents, what would otherwise need a look at every agent. It is derived from the list alone,
 * so `core` stays pure.
 *
 * Agents are added and never removed, so all lists that grew out of one have the same indexes and share them.
 */
interface AgentIndex {
  readonly indexes: Map<string, number>;
  readonly counts: PhaseCounts;
}

const CACHE = new WeakMap<Agents, AgentIndex>();

/** The index of an agent in the list, or -1. */
export function indexOfAgent(agents: Agents, id: string): number {
  const index = agentIndexOf(agents).indexes.get(id);
  // The indexes are shared with lists that have grown further, perhaps differently.
  if (index === undefined || agents[index]?.id === id) return index ?? -1;
  return agents.findIndex((agent) => agent.id === id);
}

/** Counts the agents of a list by their phase. */
export const countPhases = (agents: Agents): PhaseCounts => agentIndexOf(agents).counts;

/** The list with one agent replaced by its new version. */
export function replaceAgent(agents: Agents, index: number, agent: Agent): Agents {
  const { indexes, counts } = agentIndexOf(agents);
  const before = agents[index];
  if (before?.id !== agent.id) throw new Error(`agent ${agent.id} is not at index ${index}`);
  // `slice` copies the list as a block; `with` would look at each element.
  const next = agents.slice();
  next[index] = agent;
  CACHE.set(next, { indexes, counts: movePhaseCount(counts, before.phase.kind, agent.phase.kind) });
  return next;
}

/** The list with new agents at its end. */
export function addAgents(agents: Agents, newAgents: Agents): Agents {
  const { indexes, counts } = agentIndexOf(agents);
  const next = [...agents, ...newAgents];
  const newCounts = { ...counts };
  newAgents.forEach(({ id, phase }, index) => {
    indexes.set(id, agents.length + index);
    newCounts[phase.kind] += 1;
  });
  CACHE.set(next, { indexes, counts: newCounts });
  return next;
}

function agentIndexOf(agents: Agents): AgentIndex {
  const known = CACHE.get(agents);
  if (known !== undefined) return known;
  const counts = { ready: 0, running: 0, sleeping: 0, withheld: 0, limited: 0, paused: 0, failed: 0, ended: 0 };
  const indexes = new Map<string, number>();
  agents.forEach(({ id, phase }, index) => {
    indexes.set(id, index);
    counts[phase.kind] += 1;
  });
  const agentIndex = { indexes, counts };
  CACHE.set(agents, agentIndex);
  return agentIndex;
}

const movePhaseCount = (counts: PhaseCounts, left: Phase['kind'], entered: Phase['kind']): PhaseCounts =>
  left === entered ? counts : { ...counts, [left]: counts[left] - 1, [entered]: counts[entered] + 1 };
