import { statSync } from 'node:fs';
import { readdir, realpath, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { WorktreeContent, WorktreePlace } from '../core/worktree.ts';
import { createGit, type GitOptions } from './git.ts';
import { findMore, removeClone } from './workspace.ts';
import { deleteBranch, removeWorktree } from './worktree.ts';

/** A worktree, or the clone of a run, that is on disk. */
type LeftPlace = Pick<WorktreePlace, 'path' | 'branch'>;

/** What would be lost with a worktree: changes that are not committed, and commits that no other branch or tag has. */
export async function findWork(
  { path, branch }: LeftPlace,
  options: GitOptions,
): Promise<Pick<WorktreeContent, 'commits' | 'dirty'> | { readonly problem: string }> {
  const git = createGit(path, options);
  const top = await git('rev-parse', '--show-toplevel');
  if (!top.ok || resolve(top.out) !== (await realpath(path)))
    return (await isEmpty(path)) ? { commits: 0, dirty: false } : { problem: 'it is no worktree of a git repository' };
  // With a clone all its branches are lost, with a worktree only the one that it is on.
  const [own, others] = isClone(path)
    ? [['--branches'], ['--remotes', '--tags']]
    : [[`refs/heads/${branch}`], [`--exclude=${branch}`, '--branches', '--remotes', '--tags']];
  const [status, count] = await Promise.all([
    git('status', '--porcelain', '--untracked-files=normal'),
    git('rev-list', '--count', '--ignore-missing', 'HEAD', ...own, '--not', ...others, '--'),
  ]);
  if (!status.ok || !count.ok) return { problem: status.ok ? count.error : status.error };
  return { commits: Number(count.out), dirty: status.out !== '' };
}

const isClone = (path: string): boolean =>
  statSync(join(path, '.git'), { throwIfNoEntry: false })?.isDirectory() ?? false;

const isEmpty = async (path: string): Promise<boolean> => (await readdir(path)).length === 0;

/** Removes a worktree without work, and its branch; returns why that was not possible. */
export async function removeLeftWorktree({ path, branch }: LeftPlace, options: GitOptions): Promise<string | null> {
  const work = await findWork({ path, branch }, options);
  if ('problem' in work) return work.problem;
  if (work.commits > 0 || work.dirty) return 'it holds work now';
  if (await isEmpty(path)) {
    await rm(path, { recursive: true, force: true });
    return null;
  }
  if (isClone(path)) {
    const more = await findMore(createGit(path, options));
    return more === null ? removeClone(path) : `it holds ${more}`;
  }
  const common = await createGit(path, options)('rev-parse', '--git-common-dir');
  if (!common.ok) return common.error;
  const git = createGit(resolve(path, common.out), options);
  const problem = await removeWorktree(git, path);
  if (problem === null) await deleteBranch(git, branch);
  return problem;
}
