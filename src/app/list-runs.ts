import { isFinished } from '../core/run/status.ts';
import type { RunSummary, UnreadableRun } from '../storage/run-summary.ts';
import type { RunStorage } from '../storage/storage.ts';

export type { RunSummary, UnreadableRun } from '../storage/run-summary.ts';

/** A run in a list. */
export type RunListEntry = RunSummary | UnreadableRun;

/** Lists all runs of a storage, and what of their files is damaged: the unfinished first, then the latest first; unreadable ones are last. */
export async function listUnfinishedFirst({ runs: catalog }: RunStorage): Promise<readonly RunListEntry[]> {
  const runs = await catalog.list('journals');
  return runs.toSorted((a, b) => sortRank(a) - sortRank(b));
}

const sortRank = (run: RunListEntry): number =>
  run.kind === 'unreadable' ? 2 : isFinished(run.observedStatus) ? 1 : 0;
