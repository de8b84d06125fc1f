import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findClone, isCloneFolder } from './clone-git.ts';
import { createGit, type GitOptions } from './git.ts';
import { findMoreInClone, findWork, isEmptyFolder, type LeftPlace } from './held-work.ts';
import { removeClone } from './workspace.ts';
import { deleteBranch, removeWorktree } from './worktree.ts';

/** Removes a worktree without work, and its branch; returns why that was not possible. */
export async function removeLeftWorktree({ path, branch }: LeftPlace, options: GitOptions): Promise<string | null> {
  const work = await findWork({ path, branch }, options);
  if ('problem' in work) return work.problem;
  if (work.commits > 0 || work.dirty) return 'it holds work now';
  if (await isEmptyFolder(path)) {
    await rm(path, { recursive: true, force: true });
    return null;
  }
  if (isCloneFolder(path)) {
    const more = await findMoreInClone(path, options);
    return more === null ? removeClone(path) : `it holds ${more}`;
  }
  const gitOptions = { ...options, isClone: (await findClone(path)) !== null };
  const common = await createGit(path, gitOptions)('rev-parse', '--git-common-dir');
  if (!common.ok) return common.error;
  const git = createGit(resolve(path, common.out), gitOptions);
  const problem = await removeWorktree(git, path);
  if (problem === null) await deleteBranch(git, branch);
  return problem;
}
