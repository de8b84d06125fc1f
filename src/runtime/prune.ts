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
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
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
  readonly status: ObservedStatus | null;
  /** Its worktrees; those that hold work, or whose content is not known, stay. */
  readonly worktrees: readonly FoundWorktree[];
}

/** Finds the runs that are meant. One that is named must not be live; otherwise live runs are never meant. */
export async function findPrunableRuns(request: PruneRequest): Promise<readonly PrunableRun[]> {
  const layout = findLayout(request.cwd);
  const stored = await listStoredRuns(layout);
  const named = new Set(await Promise.all(request.runs.map((run) => resolveStoredRun(layout, run))));
  for (const run of stored) if (named.has(run.id)) refuseLive(run);
  const ids = named.size > 0 ? [...named] : stored.filter((run) => isCandidate(run, request)).map(({ id }) => id);
  const statusOf = new Map(stored.map((run) => [run.id, run.kind === 'run' ? run.observedStatus : null]));
  const measured: Omit<PrunableRun, 'worktrees'>[] = [];
  for (const id of ids) measured.push({ id, status: statusOf.get(id) ?? null, ...(await measureRun(layout, id)) });
  const old = measured.filter(({ changedAt }) => request.now - changedAt >= request.olderThanMs);
  const chosen = old.toSorted((a, b) => b.changedAt - a.changedAt).slice(request.keep);
  const found: PrunableRun[] = [];
  for (const run of chosen) found.push({ ...run, worktrees: await findWorktrees(request.cwd, request.env, run.id) });
  return found;
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
  worktrees.filter(({ path }) => existsSync(path));

/** Removes runs; `observe` hears of each that is gone, or why it is not. */
export async function pruneRuns(
  runs: readonly PrunableRun[],
  { cwd, env }: Pick<PruneRequest, 'cwd' | 'env'>,
  observe: (run: PrunableRun, error: RaymondError | null) => void,
): Promise<void> {
  const layout = findLayout(cwd);
  await finishRemovals(layout);
  for (const run of runs) {
    try {
      // Nobody goes on in them any more. Those that cannot be removed stay, and `raymond worktrees` lists them.
      await pruneWorktrees(run.worktrees.map(freed), env, () => {});
      await waitForRelease(layout, run.id);
      await removeRun(layout, run.id);
      observe(run, null);
    } catch (error) {
      if (!(error instanceof RaymondError)) throw error;
      observe(run, error);
    }
  }
}
