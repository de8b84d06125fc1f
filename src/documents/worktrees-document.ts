import type { FoundWorktree } from '../render/found-worktree.ts';
import type { WorktreesDocument } from './types.ts';

/** The document of `raymond worktrees --json`. */
export const createWorktreesDocument = (
  worktrees: readonly FoundWorktree[],
  isRemoved: (worktree: FoundWorktree) => boolean,
): WorktreesDocument => ({
  worktrees: worktrees.map((worktree) => ({
    run_id: worktree.run,
    agent: worktree.agent,
    path: worktree.path,
    worker: worktree.worker ?? null,
    branch: worktree.branch,
    holds: worktree.holds,
    commits: worktree.commits,
    dirty: worktree.dirty,
    problem: worktree.problem,
    work: worktree.work ?? null,
    removed: isRemoved(worktree),
  })),
});
