import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { runIdProblem } from '../core/run/ids.ts';
import { isLive, type ObservedStatus } from '../core/run/status.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { pruneSnapshots } from '../git/snapshot-repository.ts';
import { removeBelow } from '../remove-below.ts';
import type { FoundWorktree } from '../render/found-worktree.ts';
import type { RunSummary, RunUsage, UnreadableRun } from '../storage/run-summary.ts';
import type { RunCatalog } from '../storage/storage.ts';
import { readSnapshotList } from './diff.ts';
import type { RunPlace, SnapshotFiles } from './launcher.ts';

/** Which runs are meant. */
export interface PruneRequest {
  readonly now: number;
  /** These runs, whatever their status is. Without any, those that the rest describes. */
  readonly runs: readonly string[];
  /** Only runs with one of these statuses. */
  readonly statuses: ReadonlySet<ObservedStatus>;
  /** Only runs that last changed before this many milliseconds. */
  readonly olderThanMs: number;
  /** Except for this many, the latest of those. */
  readonly keep: number;
}

/** A run that can be removed; one that cannot be read has the status null. */
export interface PrunableRun extends RunUsage {
  readonly id: string;
  readonly status: ObservedStatus | 'half_removed' | null;
  /** Its worktrees; those that hold work, or whose content is not known, stay. */
  readonly worktrees: readonly FoundWorktree[];
}

/** Finds the runs that are meant. One that is named must not be live; otherwise live runs are never meant. */
export async function findPrunableRuns(
  { storage: { runs }, launcher: { worktrees } }: RunPlace,
  request: PruneRequest,
  warn: (message: string) => void = () => {},
): Promise<readonly PrunableRun[]> {
  const stored = await runs.list('summaries');
  const named = new Set(await Promise.all(request.runs.map((run) => resolveStored(runs, run))));
  for (const run of stored) if (named.has(run.id)) refuseLive(run);
  const ids = named.size > 0 ? [...named] : stored.filter((run) => isCandidate(run, request)).map(({ id }) => id);
  const statusOf = new Map(stored.map((run) => [run.id, run.kind === 'run' ? run.observedStatus : null]));
  const measured: Omit<PrunableRun, 'worktrees'>[] = [];
  for (const id of ids) measured.push({ id, status: statusOf.get(id) ?? null, ...(await runs.measure(id)) });
  const old = measured.filter(({ changedAt }) => request.now - changedAt >= request.olderThanMs);
  const chosen = old.toSorted((a, b) => b.changedAt - a.changedAt).slice(request.keep);
  const found: PrunableRun[] = [];
  const halfRemoved = await runs.findHalfRemoved();
  for (const file of halfRemoved.unsigned)
    warn(`${file} says that a run was removed, but you have not written it: it is ignored. Remove it yourself.`);
  for (const id of halfRemoved.ids) {
    if (named.size === 0 && !chosen.some((run) => run.id === id))
      found.push({ id, status: 'half_removed', ...(await runs.measure(id)), worktrees: [] });
  }
  for (const run of chosen) found.push({ ...run, worktrees: await worktrees.findOfEnded(run.id) });
  return found;
}

/** The id of a run that is named. Of a damaged run there may be only a part of its files left. */
const resolveStored = async (runs: RunCatalog, run: string): Promise<string> =>
  runIdProblem(run) === undefined && (await runs.measure(run)).bytes > 0 ? run : runs.resolve(run);

/** A damaged run is removed only by its name: somebody may want to look at it. */
function isCandidate(run: RunSummary | UnreadableRun, { statuses }: PruneRequest): boolean {
  if (run.kind !== 'run' || run.damage.length > 0) return false;
  return !isLive(run.observedStatus) && statuses.has(run.observedStatus);
}

function refuseLive(run: RunSummary | UnreadableRun): void {
  if (run.kind !== 'run' || !isLive(run.observedStatus)) return;
  throw new RaymondError(`The run ${run.id} is ${run.observedStatus}: it is not removed.`, {
    exitCode: EXIT.usage,
    hint: `Stop it first: \`raymond stop ${run.id}\`.`,
  });
}

/** The worktrees that stay when a run is removed. */
export const keptWorktrees = ({ worktrees }: PrunableRun): readonly FoundWorktree[] =>
  worktrees.filter(({ path, worker, holds }) => (worker === undefined ? existsSync(path) : holds !== 'nothing'));

/** Removes runs; `observe` hears of each that is gone, or why it is not. */
export async function pruneRuns(
  { storage, launcher }: RunPlace,
  runs: readonly PrunableRun[],
  observe: (run: PrunableRun, error: RaymondError | null) => void,
): Promise<void> {
  for (const run of runs) {
    try {
      const removeRemains = await launcher.worktrees.leave(run.id, run.worktrees);
      await storage.runs.remove(run.id);
      await removeRemains();
      observe(run, null);
    } catch (error) {
      if (!(error instanceof RaymondError)) throw error;
      observe(run, error);
    }
  }
  if (runs.length > 0 && launcher.snapshots !== null) await collectSnapshots(storage.runs, launcher.snapshots);
}

/** Removes the snapshots that no run has any more, best effort. */
async function collectSnapshots(runs: RunCatalog, snapshots: SnapshotFiles): Promise<void> {
  const { repository, env } = snapshots;
  if (!existsSync(repository)) return;
  const stored = await runs.list('summaries');
  const lists = await Promise.all(stored.map(({ id }) => readSnapshotList(snapshots.listOf(id))));
  const trees = lists.flat().map(({ tree }) => tree);
  const mayTakeOne = stored.some((run) => run.kind !== 'run' || isLive(run.observedStatus));
  if (trees.length === 0 && !mayTakeOne) await removeBelow(dirname(repository), repository).catch(() => {});
  else await pruneSnapshots(repository, trees, { env }).catch(() => {});
}
