import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { WorktreeContent, WorktreePlace } from '../core/worktree.ts';
import { findClone, isCloneFolder, withCloneGit } from './clone-git.ts';
import { createGit, type Git, type GitOptions } from './git.ts';

/** A worktree, or a clone, that is on disk. */
export type LeftPlace = Pick<WorktreePlace, 'path' | 'branch'>;

/** What would be lost with a worktree: changes that are not committed, and commits that no other branch or tag has. */
export async function findWork(place: LeftPlace, options: GitOptions): Promise<FoundWork> {
  const { path } = place;
  const clone = await findClone(path);
  if (clone !== null) return withCloneGit(clone, options, (git) => lookForWork(git, place));
  const git = createGit(path, options);
  const top = await git('rev-parse', '--show-toplevel');
  if (top.ok && resolve(top.out) === (await realpath(path))) return lookForWork(git, place);
  return (await isEmptyFolder(path))
    ? { commits: 0, dirty: false }
    : { problem: 'it is no worktree of a git repository' };
}

type FoundWork = Pick<WorktreeContent, 'commits' | 'dirty'> | { readonly problem: string };

async function lookForWork(git: Git, { path, branch }: LeftPlace): Promise<FoundWork> {
  // With a clone all its branches are lost, with a worktree only the one that it is on.
  const [own, others] = isCloneFolder(path)
    ? [['--branches'], ['--remotes', '--tags']]
    : [[`refs/heads/${branch}`], [`--exclude=${branch}`, '--branches', '--remotes', '--tags']];
  const [status, count] = await Promise.all([
    git('status', '--porcelain', '--untracked-files=normal'),
    git('rev-list', '--count', '--ignore-missing', 'HEAD', ...own, '--not', ...others, '--'),
  ]);
  if (!status.ok || !count.ok) return { problem: status.ok ? count.error : status.error };
  return { commits: Number(count.out), dirty: status.out !== '' };
}

/** What nobody would have any more without a clone, besides changes in its files; null for nothing. By what the clone knows of its remote. */
export const findMoreInClone = (path: string, options: GitOptions): Promise<string | null> =>
  withCloneGit({ path, repository: join(path, '.git') }, options, (git) => findMore(git, ['--remotes', '--tags']));

/** What nobody would have any more without the clone, besides changes in its files and these commits; null for nothing. */
export async function findMore(git: Git, known: readonly string[]): Promise<string | null> {
  const [count, stash, trees] = await Promise.all([
    git('rev-list', '--count', '--branches', 'HEAD', '--not', ...known, '--'),
    git('rev-parse', '--verify', '--quiet', 'refs/stash'),
    git('worktree', 'list', '--porcelain'),
  ]);
  if (!count.ok) return `what is not known: ${count.error}`;
  if (count.out !== '0') return 'commits on other branches, which are not pushed';
  if (stash.ok) return 'changes in `git stash`';
  return trees.out.split('\n').filter((line) => line.startsWith('worktree ')).length > 1
    ? 'worktrees of workers'
    : null;
}

/**
 * Says why what has the name of a new worktree or clone must stay: an earlier run of the same id has left work in it, or nobody can tell.
 * Null if there is nothing, or what a crash left before anybody worked in it.
 */
export async function findWorkInTheWay(place: LeftPlace, options: GitOptions): Promise<string | null> {
  const { path } = place;
  if (!existsSync(path)) return null;
  const work = await findWork(place, options);
  const advice = 'move it away, or choose another --run-id';
  if ('problem' in work) return `what is in ${path} already is not known (${work.problem}): ${advice}`;
  const { commits, dirty } = work;
  const held = [
    ...(commits > 0 ? [`${commits} ${commits === 1 ? 'commit' : 'commits'} that nobody else has`] : []),
    ...(dirty ? ['changes that are not committed'] : []),
  ].join(' and ');
  const more = held === '' && isCloneFolder(path) ? await findMoreInClone(path, options) : null;
  if (held === '' && more === null) return null;
  return `${path} is there already and holds ${more ?? held}: ${advice}`;
}

/** Whether there is nothing in a folder. */
export const isEmptyFolder = async (path: string): Promise<boolean> => (await readdir(path)).length === 0;
