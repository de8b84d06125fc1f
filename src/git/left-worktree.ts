import { readGitPlace, realPathOf } from '../git-repository.ts';
import { createGit, type GitOptions } from './git.ts';
import { findMoreInClone, findWork, isCloneFolder, isEmptyFolder, type LeftPlace } from './held-work.ts';
import { removeClone } from './workspace.ts';
import { deleteBranch, removeWorktree } from './worktree.ts';

/** Removes a worktree without work, and its branch; returns why that was not possible. */
export async function removeLeftWorktree({ path, branch }: LeftPlace, options: GitOptions): Promise<string | null> {
  const work = await findWork({ path, branch }, options);
  if ('problem' in work) return work.problem;
  if (work.commits > 0 || work.dirty) return 'it holds work now';
  if (await isEmptyFolder(path)) return removeClone(path);
  if (isCloneFolder(path)) {
    const more = await findMoreInClone(path, options);
    return more === null ? removeClone(path) : `it holds ${more}`;
  }
  return removeWithBranch({ path, branch }, options);
}

/** Removes a worktree with all the work in it, and its branch; returns why that was not possible. */
export async function discardLeftWorktree({ path, branch }: LeftPlace, options: GitOptions): Promise<string | null> {
  // A folder that git does not know has no branch.
  const isFolder = isCloneFolder(path) || (await isEmptyFolder(path));
  if (isFolder || 'problem' in (await findWork({ path, branch }, options))) return removeClone(path);
  return removeWithBranch({ path, branch }, options);
}

async function removeWithBranch({ path, branch }: LeftPlace, options: GitOptions): Promise<string | null> {
  const repository = readGitPlace(realPathOf(path))?.commonDir;
  if (repository === undefined) return 'it is no worktree of a git repository';
  const git = createGit(repository, { ...options, repository });
  const problem = await removeWorktree(git, path);
  if (problem === null) await deleteBranch(git, branch);
  return problem;
}
