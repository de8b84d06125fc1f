import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findGitPlace, type GitPlace, readPathFile, realPathOf } from '../../git-repository.ts';
import { isPlain, lookAt } from './mount-table.ts';
import { findProtectedPaths } from './mounts.ts';
import { SANDBOX_POLICY } from './policy.ts';

/** A folder that turns may write to, as the run found it before its first turn there: later, a turn may have written anything to it. */
export interface WorkingFolder {
  readonly root: string;
  readonly git: GitPlace | null;
  readonly protectedPaths: readonly string[];
}

/** Looks at a folder for the first time. */
export function inspectWorkingFolder(root: string): WorkingFolder {
  const git = findOwnGitPlace(root);
  if (git !== null)
    for (const name of SANDBOX_POLICY.git.made) mkdirSync(join(git.commonDir, name), { recursive: true });
  return { root, git, protectedPaths: findProtectedPaths(root, git) };
}

/**
 * The repository of a folder, if it belongs to the folder: its folder of git is in it, or says itself that this is one of its worktrees. A
 * file that names the repository of somebody else does not open that.
 */
function findOwnGitPlace(root: string): GitPlace | null {
  const place = findGitPlace(root);
  if (place === null) return null;
  const { top, gitDir, commonDir } = place;
  const entry = join(top, '.git');
  if (lookAt(entry)?.isDirectory() === true) return gitDir === entry && commonDir === entry ? place : null;
  const link = readPathFile(join(gitDir, 'gitdir'), gitDir);
  const isWorktree = isPlain(entry) && link !== null && realPathOf(link) === entry;
  return isWorktree && dirname(gitDir) === join(commonDir, 'worktrees') ? place : null;
}
