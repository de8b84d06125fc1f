import { type Agent, type Phase, recordedTurn } from './agent.ts';
import { isSettled } from './done-phase.ts';

type Agents = readonly Agent[];

/** The Claude turns that are under way: their number, the sum of their caps, and how many of them have none. */
export interface ClaudeTurnSum {
  readonly count: number;
  readonly capMicros: number;
  readonly uncapped: number;
}

/**
 * What an agent is counted as: its phase; but `settled` if it ended otherwise than with a result and a join took note of
 * it, and `timed` if it joins and gives up at some time.
 */
export type CountedPhase = Exclude<Phase['kind'], 'cancelled'> | 'settled' | 'timed';

/** The number of agents in each phase. */
export type PhaseCounts = Readonly<Record<CountedPhase, number>>;

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

/** Counts the turns of a list of agents that are under way. */
export function countTurns(agents: Agents): number {
  const { running, cancelling } = countPhases(agents);
  return running + cancelling;
}

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
    counts: movePhaseCount(counts, countedPhase(before), countedPhase(agent)),
    claudeTurns: addClaudeTurn(addClaudeTurn(claudeTurns, before, -1), agent, 1),
  });
  return next;
}

/** As many agents are replaced one by one; more in one pass over the list, after which everything is counted anew. */
const FEW_AGENTS = 4;

/** The list with several agents replaced by their new versions. */
export function replaceAgents(agents: Agents, changed: readonly Agent[]): Agents {
  if (changed.length <= FEW_AGENTS)
    return changed.reduce((list, agent) => replaceAgent(list, indexOfAgent(list, agent.id), agent), agents);
  const byId = new Map(changed.map((agent) => [agent.id, agent]));
  return agents.map((agent) => byId.get(agent.id) ?? agent);
}

/** The list with new agents at its end. */
export function addAgents(agents: Agents, newAgents: Agents): Agents {
  const { indexes, counts, claudeTurns } = agentIndexOf(agents);
  const next = [...agents, ...newAgents];
  const newCounts = { ...counts };
  newAgents.forEach((agent, index) => {
    indexes.set(agent.id, agents.length + index);
    newCounts[countedPhase(agent)] += 1;
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
  const counts = { ...NO_COUNTS };
  const indexes = new Map<string, number>();
  agents.forEach((agent, index) => {
    indexes.set(agent.id, index);
    counts[countedPhase(agent)] += 1;
  });
  const agentIndex = { indexes, counts, claudeTurns: sumOf(agents, NO_CLAUDE_TURNS) };
  CACHE.set(agents, agentIndex);
  return agentIndex;
}

const NO_COUNTS: PhaseCounts = {
  ready: 0,
  running: 0,
  sleeping: 0,
  worktree: 0,
  withheld: 0,
  limited: 0,
  paused: 0,
  asking: 0,
  parked: 0,
  joining: 0,
  timed: 0,
  cancelling: 0,
  failed: 0,
  settled: 0,
  ended: 0,
};

function countedPhase(agent: Agent): CountedPhase {
  const { phase } = agent;
  if (phase.kind === 'cancelled') return 'settled';
  if (phase.kind === 'joining') return phase.untilMs === null ? 'joining' : 'timed';
  return phase.kind !== 'ended' && isSettled(agent) ? 'settled' : phase.kind;
}

const NO_CLAUDE_TURNS: ClaudeTurnSum = { count: 0, capMicros: 0, uncapped: 0 };

const sumOf = (agents: Agents, start: ClaudeTurnSum): ClaudeTurnSum =>
  agents.reduce((sum, agent) => addClaudeTurn(sum, agent, 1), start);

/** The sum with the Claude turn of this agent, if it has one; with -1 as `sign`, without it. */
function addClaudeTurn(sum: ClaudeTurnSum, { phase }: Agent, sign: 1 | -1): ClaudeTurnSum {
  const turn = recordedTurn(phase);
  if (turn === null || turn.session === null) return sum;
  const { capMicros } = turn;
  return {
    count: sum.count + sign,
    capMicros: sum.capMicros + sign * (capMicros ?? 0),
    uncapped: sum.uncapped + (capMicros === null ? sign : 0),
  };
}

const movePhaseCount = (counts: PhaseCounts, left: CountedPhase, entered: CountedPhase): PhaseCounts =>
  left === entered ? counts : { ...counts, [left]: counts[left] - 1, [entered]: counts[entered] + 1 };
