import { withChange } from '../../core/run/change.ts';
import type { Run } from '../../core/run/run.ts';
import type { WorktreesDiscarded } from '../../core/signals/signal.ts';
import { step } from '../../core/step.ts';
import { type FolderLayout, findLayout } from '../../disk/layout.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { discardLeftWorktree } from '../../git/left-work.ts';
import type { FoundWorktree } from '../../render/found-worktree.ts';
import { createFileLeases } from '../../storage/files/lease.ts';
import { loadSnapshot } from '../../storage/files/load.ts';
import { resolveRunId } from '../../storage/files/runs.ts';
import { findWorktreesFolders, removeRemains } from './worktree-folders.ts';
import {
  clonesLast,
  findWorktrees,
  nameWork,
  pruneWorktrees,
  removeWorktreeRemains,
  type WorktreeObserver,
} from './worktrees.ts';

/** The worktrees of a folder's runs, or those on the nodes of a database. */
export interface WorktreePool {
  find(): Promise<readonly FoundWorktree[]>;
  /** Those of one run, which may have been removed, with the work in them by name. */
  findOfRun(run: string): Promise<readonly FoundWorktree[]>;
  /** Those of one run as they are now, or as their agents left them where looking takes long. */
  findRecorded(run: string): Promise<readonly FoundWorktree[]>;
  /** Those of one run that is about to be removed: no agent will work in them any more. */
  findOfEnded(run: string): Promise<readonly FoundWorktree[]>;
  /** Removes those that hold nothing, before their run is removed. Returns a function that removes what is left of their folders after it. */
  leave(run: string, worktrees: readonly FoundWorktree[]): Promise<() => Promise<void>>;
  /** Removes those that hold nothing. */
  prune(worktrees: readonly FoundWorktree[], observe: WorktreeObserver): Promise<void>;
  /** Removes these, all of one run, with the work in them, and notes that in the run. */
  discard(worktrees: readonly FoundWorktree[], observe: WorktreeObserver): Promise<void>;
}

/** The worktrees of the runs of a folder. */
export function createFileWorktreePool(cwd: string, env: NodeJS.ProcessEnv): WorktreePool {
  const layout = findLayout(cwd);
  return {
    find: () => findWorktrees(cwd, env),
    async findOfRun(run) {
      const isKnown = (await findWorktreesFolders(layout, env, run)).length > 0;
      return nameWork(await findWorktrees(cwd, env, isKnown ? run : await resolveRunId(layout, run)), env);
    },
    findRecorded: (run) => findWorktrees(cwd, env, run),
    findOfEnded: (run) => findWorktrees(cwd, env, run, async () => () => false),
    async leave(run, worktrees) {
      // Those that cannot be removed stay, and `raymond worktrees` lists them.
      await pruneWorktrees(worktrees, env, () => {});
      // Before the run is gone, which knows them.
      const folders = await findWorktreesFolders(layout, env, run);
      return () => removeRemains(folders);
    },
    async prune(worktrees, observe) {
      await pruneWorktrees(worktrees, env, observe);
      await removeWorktreeRemains(cwd, env);
    },
    async discard(worktrees, observe) {
      const [first] = worktrees;
      if (first === undefined) return;
      await recordDiscard(layout, first.run, () => discardEach(worktrees, env, observe));
      await removeRemains(await findWorktreesFolders(layout, env, first.run));
    },
  };
}

/** Discards worktrees; returns those that are gone. */
export async function discardEach(
  worktrees: readonly FoundWorktree[],
  env: NodeJS.ProcessEnv,
  observe: WorktreeObserver,
): Promise<readonly FoundWorktree[]> {
  const gone: FoundWorktree[] = [];
  for (const worktree of clonesLast(worktrees)) {
    const problem = await discardLeftWorktree(worktree, { env });
    if (problem === null) gone.push(worktree);
    observe(worktree, problem);
  }
  return gone;
}

/** The signal that these worktrees were discarded. */
export const discardSignal = (worktrees: readonly FoundWorktree[], at: number): WorktreesDiscarded => ({
  kind: 'worktrees_discarded',
  at,
  worktrees: worktrees.map(({ agent, path, branch }) => ({ agent, path, branch })),
});

/** Owns a run while its worktrees are discarded, so that it cannot be resumed, and notes which are gone. A removed run has no record. */
async function recordDiscard(
  layout: FolderLayout,
  id: string,
  discard: () => Promise<readonly FoundWorktree[]>,
): Promise<void> {
  const stored = await loadSnapshot(layout, id).then(
    ({ run }): Run | null => run,
    () => null,
  );
  if (stored === null) {
    await discard();
    return;
  }
  const lease = await createFileLeases(layout).acquire(id);
  const { run } = lease;
  try {
    if (run.status === 'running') throw isUnfinishedError(id);
    const gone = await discard();
    if (gone.length > 0) await lease.append([withChange(run, step(run, discardSignal(gone, Date.now())))]);
  } finally {
    await lease.release();
  }
}

/** The error for a run whose worktrees cannot be discarded yet. */
export const isUnfinishedError = (id: string): RaymondError =>
  new RaymondError(`The run ${id} has not come to rest: its worktrees are not discarded.`, {
    exitCode: EXIT.usage,
    hint: `Resume it and let it end, or remove it: \`raymond prune ${id}\`.`,
  });
