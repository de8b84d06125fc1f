import type { Agent, Phase } from './agent.ts';

type Agents = readonly Agent[];

/** The Claude turns that are under way: their number, the sum of their caps, and how many of them have none. */
export interface ClaudeTurnSum {
  readonly count: number;
  readonly capMicros: number;
  readonly uncapped: number;
}

/** The number of agents in each phase. */
export type PhaseCounts = Readonly<Record<Phase['kind'], number>>;

/**
 * Caches, for each list of agents, what would otherwise need a look at every agent. It is derived from the list alone,
 * so `core` stays pure.
 *
 * As long as agents are only added, all lists that grew out of one have the same indexes and share them. A list from
 * which some were removed starts anew.
 */
interface AgentIndex {
  readonly indexes: Map<string, number>;
  readonly counts: PhaseCounts;
  readonly claudeTurns: ClaudeTurnSum;
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

/** Sums up the Claude turns of a list of agents that are under way. */
export const sumClaudeTurns = (agents: Agents): ClaudeTurnSum => agentIndexOf(agents).claudeTurns;

/** The list with one agent replaced by its new version. */
export function replaceAgent(agents: Agents, index: number, agent: Agent): Agents {
  const { indexes, counts, claudeTurns } = agentIndexOf(agents);
  const before = agents[index];
  if (before?.id !== agent.id) throw new Error(`agent ${agent.id} is not at index ${index}`);
  // `slice` copies the list as a block; `with` would look at each element.
  const next = agents.slice();
  next[index] = agent;
  CACHE.set(next, {
    indexes,
    counts: movePhaseCount(counts, before.phase.kind, agent.phase.kind),
    claudeTurns: addClaudeTurn(addClaudeTurn(claudeTurns, before, -1), agent, 1),
  });
  return next;
}

/** The list with new agents at its end. */
export function addAgents(agents: Agents, newAgents: Agents): Agents {
  const { indexes, counts, claudeTurns } = agentIndexOf(agents);
  const next = [...agents, ...newAgents];
  const newCounts = { ...counts };
  newAgents.forEach(({ id, phase }, index) => {
    indexes.set(id, agents.length + index);
    newCounts[phase.kind] += 1;
  });
  CACHE.set(next, { indexes, counts: newCounts, claudeTurns: sumOf(newAgents, claudeTurns) });
  return next;
}

/** The list without these agents. */
export const removeAgents = (agents: Agents, ids: ReadonlySet<string>): Agents =>
  agents.filter(({ id }) => !ids.has(id));

function agentIndexOf(agents: Agents): AgentIndex {
  const known = CACHE.get(agents);
  if (known !== undefined) return known;
  const counts = {
    ready: 0,
    running: 0,
    sleeping: 0,
    worktree: 0,
    withheld: 0,
    limited: 0,
    paused: 0,
    asking: 0,
    failed: 0,
    ended: 0,
  };
  const indexes = new Map<string, number>();
  agents.forEach(({ id, phase }, index) => {
    indexes.set(id, index);
    counts[phase.kind] += 1;
  });
  const agentIndex = { indexes, counts, claudeTurns: sumOf(agents, NO_CLAUDE_TURNS) };
  CACHE.set(agents, agentIndex);
  return agentIndex;
}

const NO_CLAUDE_TURNS: ClaudeTurnSum = { count: 0, capMicros: 0, uncapped: 0 };

const sumOf = (agents: Agents, start: ClaudeTurnSum): ClaudeTurnSum =>
  agents.reduce((sum, agent) => addClaudeTurn(sum, agent, 1), start);

/** The sum with the Claude turn of this agent, if it has one; with -1 as `sign`, without it. */
function addClaudeTurn(sum: ClaudeTurnSum, { phase }: Agent, sign: 1 | -1): ClaudeTurnSum {
  if (phase.kind !== 'running' || phase.turn.session === null) return sum;
  const { capMicros } = phase.turn;
  return {
    count: sum.count + sign,
    capMicros: sum.capMicros + sign * (capMicros ?? 0),
    uncapped: sum.uncapped + (capMicros === null ? sign : 0),
  };
}

const movePhaseCount = (counts: PhaseCounts, left: Phase['kind'], entered: Phase['kind']): PhaseCounts =>
  left === entered ? counts : { ...counts, [left]: counts[left] - 1, [entered]: counts[entered] + 1 };
