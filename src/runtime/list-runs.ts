import { isFinished } from '../core/observed-status.ts';
import { createSpendingFields } from '../events/event-document.ts';
import { createRunFields } from '../events/run-document.ts';
import { findLayout } from '../store/layout.ts';
import { findCrashedRunIds, type RunSummary, type UnreadableRun } from '../store/runs.ts';
import { openRuns, type RunLocation } from './open-runs.ts';

export type { RunSummary, UnreadableRun } from '../store/runs.ts';

/** A run in a list. */
export type RunListEntry = RunSummary | UnreadableRun;

/** Lists all runs of a location, and what of their files is damaged: the unfinished first, then the latest first; unreadable ones are last. */
export async function listRuns(location: RunLocation = process.cwd()): Promise<readonly RunListEntry[]> {
  const runs = await openRuns(location).listRuns(true);
  return runs.toSorted((a, b) => sortRank(a) - sortRank(b));
}

/** The ids of the runs of this folder that have lost their process. Much quicker than a list. */
export const findCrashedRuns = (cwd: string): Promise<readonly string[]> => findCrashedRunIds(findLayout(cwd));

const sortRank = (run: RunListEntry): number =>
  run.kind === 'unreadable' ? 2 : isFinished(run.observedStatus) ? 1 : 0;

/** Counts the agents of a run that are live, have ended and have failed. Those that a join has ended are none of these. */
export function countAgents({ agents }: RunSummary): { live: number; ended: number; failed: number } {
  const { ended = 0, failed = 0, cancelled: _, ...others } = agents;
  return { live: Object.values(others).reduce((sum, count) => sum + count, 0), ended, failed };
}

/** Creates the JSON document of a list of runs. */
export const toRunListDocument = (runs: readonly RunListEntry[]): object => ({ runs: runs.map(createRunListEntry) });

/** Creates the JSON document of a run in a list. */
export function createRunListEntry(run: RunListEntry): object {
  if (run.kind === 'unreadable') return { run_id: run.id, status: 'unreadable', error: run.error.message };
  return {
    ...createRunFields(run),
    ...createSpendingFields(run.ledger),
    agent_counts: countAgents(run),
    damage: run.damage,
    questions: run.agents.asking ?? 0,
  };
}
