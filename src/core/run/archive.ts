import type { Agent } from './agent.ts';
import { countPhases, indexOfAgent, removeAgents } from './agent-index.ts';
import { isWorkerIdSpent } from './ids.ts';
import type { Run } from './run.ts';

/** How many ended agents a run keeps, and by how many their number grows before some are archived, all at once. */
export interface ArchiveLimits {
  readonly kept: number;
  readonly batch: number;
}

/** The limits of every run: few have a thousand agents, and a run that forks forever stays small. */
export const ARCHIVE_LIMITS: ArchiveLimits = { kept: 1_000, batch: 250 };

/**
 * Takes the ended agents that were started first out of a run that has too many. The journal has them all; the run
 * only counts them. It is done in batches, so that a step costs the same however many agents there have been.
 */
export function archiveEndedAgents(before: Run, run: Run, { kept, batch }: ArchiveLimits): Run {
  const { ended } = countPhases(run.agents);
  const batchesOf = (count: number): number => Math.floor((count - kept) / batch);
  if (batchesOf(ended) <= Math.max(0, batchesOf(countPhases(before.agents).ended))) return run;
  const archived = new Set<string>();
  // An agent stays for a step after its end, so that the journal has its last change.
  for (const agent of before.agents) {
    if (archived.size === ended - kept) break;
    if (canBeArchived(run, agent)) archived.add(agent.id);
  }
  const archive = { ended: archivedCount(run) + archived.size };
  return { ...run, archive, agents: archived.size === 0 ? run.agents : removeAgents(run.agents, archived) };
}

/** The number of agents that ended and are no longer in the run. */
export const archivedCount = ({ archive }: Pick<Run, 'archive'>): number => archive?.ended ?? 0;

/** Only a worker that ended with a result: any other may be resumed, and the result of `main` is that of the run. */
function canBeArchived(run: Run, agent: Agent): boolean {
  const { id, parent: parentId, phase } = agent;
  if (phase.kind !== 'ended' || parentId === null) return false;
  const parent = run.agents[indexOfAgent(run.agents, parentId)];
  const canParentFork = parent !== undefined && parent.phase.kind !== 'ended' && parent.phase.kind !== 'cancelled';
  if (canParentFork && canBeJoined(run, agent, parent)) return false;
  return isWorkerIdSpent(id, parentId, canParentFork ? parent.forks : null);
}

/** True if the agent's parent may still join it, or is about to get its result or has it in hand. */
function canBeJoined({ joins }: Run, { joinedBy }: Agent, parent: Agent): boolean {
  if (joinedBy === null) return joins;
  return parent.results === joinedBy || (parent.phase.kind === 'joining' && parent.phase.join === joinedBy);
}
