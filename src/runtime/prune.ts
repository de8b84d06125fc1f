import { existsSync } from 'node:fs';
import { runIdProblem } from '../core/ids.ts';
import { isLive, type ObservedStatus } from '../core/observed-status.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { FoundWorktree } from '../events/found-worktree.ts';
import { findLayout, type StoreLayout } from '../store/layout.ts';
import { finishRemovals, measureRun, type RunUsage, removeRun } from '../store/prune.ts';
import { listStoredRuns, type RunSummary, resolveRunId, type UnreadableRun } from '../store/runs.ts';
import { waitForRelease } from '../store/wait-for-release.ts';
import { findWorktrees, pruneWorktrees } from './worktrees.ts';

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

/** A place whose runs can be removed: a folder, or a database. */
export interface PrunePlace {
  list(): Promise<readonly (RunSummary | UnreadableRun)[]>;
  /** The id of a run that is named. */
  resolve(run: string): Promise<string>;
  measure(id: string): Promise<RunUsage>;
  findWorktrees(id: string): Promise<readonly FoundWorktree[]>;
  /** Removes a run for good; throws if that is not possible. */
  remove(run: PrunableRun): Promise<void>;
  /** Finishes what was cut short before. */
  finishRemovals(): Promise<unknown>;
}

/** A run that can be removed; one that cannot be read has the status null. */
export interface PrunableRun extends RunUsage {
  readonly id: string;
  readonly status: ObservedStatus | null;
  /** Its worktrees; those that hold work, or whose content is not known, stay. */
  readonly worktrees: readonly FoundWorktree[];
}

/** Finds the runs that are meant. One that is named must not be live; otherwise live runs are never meant. */
export async function findPrunableRuns(place: PrunePlace, request: PruneRequest): Promise<readonly PrunableRun[]> {
  const stored = await place.list();
  const named = new Set(await Promise.all(request.runs.map((run) => place.resolve(run))));
  for (const run of stored) if (named.has(run.id)) refuseLive(run);
  const ids = named.size > 0 ? [...named] : stored.filter((run) => isCandidate(run, request)).map(({ id }) => id);
  const statusOf = new Map(stored.map((run) => [run.id, run.kind === 'run' ? run.observedStatus : null]));
  const measured: Omit<PrunableRun, 'worktrees'>[] = [];
  for (const id of ids) measured.push({ id, status: statusOf.get(id) ?? null, ...(await place.measure(id)) });
  const old = measured.filter(({ changedAt }) => request.now - changedAt >= request.olderThanMs);
  const chosen = old.toSorted((a, b) => b.changedAt - a.changedAt).slice(request.keep);
  const found: PrunableRun[] = [];
  for (const run of chosen) found.push({ ...run, worktrees: await place.findWorktrees(run.id) });
  return found;
}

/** The runs whose files are in a folder. */
export function createFilePrunePlace(cwd: string, env: NodeJS.ProcessEnv): PrunePlace {
  const layout = findLayout(cwd);
  return {
    list: () => listStoredRuns(layout),
    resolve: (run) => resolveStoredRun(layout, run),
    measure: (id) => measureRun(layout, id),
    findWorktrees: (id) => findWorktrees(cwd, env, id),
    async remove({ id, worktrees }) {
      // Nobody goes on in them any more. Those that cannot be removed stay, and `raymond worktrees` lists them.
      await pruneWorktrees(worktrees.map(freed), env, () => {});
      await waitForRelease(layout, id);
      await removeRun(layout, id);
    },
    finishRemovals: () => finishRemovals(layout),
  };
}

/** The id of a run that is named. Of a damaged run there may be only its folder left. */
async function resolveStoredRun(layout: StoreLayout, run: string): Promise<string> {
  const hasFolder = runIdProblem(run) === undefined && existsSync(layout.runFolder(run));
  return hasFolder ? run : resolveRunId(layout, run);
}

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

const freed = (worktree: FoundWorktree): FoundWorktree =>
  worktree.holds === 'in_use' ? { ...worktree, holds: 'nothing' } : worktree;

/** The worktrees that stay when a run is removed. */
export const keptWorktrees = ({ worktrees }: PrunableRun): readonly FoundWorktree[] =>
  worktrees.filter(({ path, worker, holds }) => (worker === undefined ? existsSync(path) : holds === 'work'));

/** Removes runs; `observe` hears of each that is gone, or why it is not. */
export async function pruneRuns(
  place: PrunePlace,
  runs: readonly PrunableRun[],
  observe: (run: PrunableRun, error: RaymondError | null) => void,
): Promise<void> {
  await place.finishRemovals();
  for (const run of runs) {
    try {
      await place.remove(run);
      observe(run, null);
    } catch (error) {
      if (!(error instanceof RaymondError)) throw error;
      observe(run, error);
    }
  }
}
