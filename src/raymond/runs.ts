import { usdOf } from '../core/ledger.ts';
import { isFinished } from '../core/standing.ts';
import { findRaymondFolder, layoutOf } from '../store/layout.ts';
import { listRuns, type RunSummary, type UnreadableRun } from '../store/run-list.ts';

export type { RunSummary, UnreadableRun } from '../store/run-list.ts';

/** A run as a list has it. */
export type Listed = RunSummary | UnreadableRun;

/** All runs of whoever works in this folder: the unfinished first, then the latest first; unreadable ones are last. */
export async function runsHere(cwd = process.cwd()): Promise<readonly Listed[]> {
  const runs = await listRuns(layoutOf(findRaymondFolder(cwd)));
  return runs.toSorted((a, b) => rankOf(a) - rankOf(b));
}

const rankOf = (run: Listed): number => (run.kind === 'unreadable' ? 2 : isFinished(run.standing) ? 1 : 0);

/** How many agents of a run would go on, and how many have come to an end of either kind. */
export function agentCounts({ agents }: RunSummary): { live: number; ended: number; failed: number } {
  const { ended = 0, failed = 0, ...others } = agents;
  return { live: Object.values(others).reduce((sum, count) => sum + count, 0), ended, failed };
}

/** A list of runs as one document. */
export const documentOfRuns = (runs: readonly Listed[]): unknown => ({ runs: runs.map(entryOf) });

function entryOf(run: Listed): unknown {
  if (run.kind === 'unreadable') return { run_id: run.id, status: 'unreadable', error: run.error.message };
  return {
    run_id: run.id,
    name: run.name,
    workflow: run.workflow.name,
    workflow_path: run.workflow.path,
    status: run.standing,
    owner: run.owner,
    started_at: new Date(run.startedAt).toISOString(),
    cost_usd: usdOf(run.spentMicros),
    agent_counts: agentCounts(run),
  };
}
