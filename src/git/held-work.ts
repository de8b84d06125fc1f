import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeContent, WorktreePlace } from '../core/run/worktree.ts';
import { readGitPlace, realPathOf } from '../git-repository.ts';
import { createGit, type Git, type GitOptions } from './git.ts';
import { isDirty } from './git-status.ts';
import { listRegistered } from './registered-worktrees.ts';

/** A worktree, or a clone, that is on disk. */
export type LeftPlace = Pick<WorktreePlace, 'path' | 'branch'>;

/** The work that would be lost with a worktree: uncommitted changes, and commits that no other branch or tag has. */
export async function findWork(place: LeftPlace, options: GitOptions): Promise<FoundWork> {
  const { path } = place;
  const found = readGitPlace(realPathOf(path));
  if (found !== null) return lookForWork(place, { ...options, repository: found.commonDir });
  return (await isEmptyFolder(path))
    ? { commits: 0, dirty: false }
    : { problem: 'it is no worktree of a git repository' };
}

type FoundWork = Pick<WorktreeContent, 'commits' | 'dirty'> | { readonly problem: string };

/** True if a folder is a whole repository, and not only a worktree of one. */
export const isCloneFolder = (path: string): boolean =>
  statSync(join(path, '.git'), { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The commits that no other branch or tag has, as arguments of git. With a clone all its branches are lost, with a worktree only its own. */
export function ownCommits({ path, branch }: LeftPlace): readonly string[] {
  const [own, others] = isCloneFolder(path)
    ? [['--branches'], ['--remotes', '--tags']]
    : [[`refs/heads/${branch}`], [`--exclude=${branch}`, '--branches', '--remotes', '--tags']];
  return ['--ignore-missing', 'HEAD', ...own, '--not', ...others, '--'];
}

async function lookForWork(place: LeftPlace, options: GitOptions): Promise<FoundWork> {
  const [dirty, count] = await Promise.all([
    isDirty(place.path, options),
    createGit(place.path, options)('rev-list', '--count', ...ownCommits(place)),
  ]);
  if (typeof dirty !== 'boolean') return dirty;
  return count.ok ? { commits: Number(count.out), dirty } : { problem: count.error };
}

/** The work that would be lost with a clone, besides changes in its files; null for none. Judged by what the clone knows of its remote. */
export const findMoreInClone = (path: string, options: GitOptions): Promise<string | null> =>
  findMore(createGit(path, { ...options, repository: join(path, '.git') }), ['--remotes', '--tags']);

/** The work that would be lost with the clone, besides changes in its files and these commits; null for none. */
export async function findMore(git: Git, known: readonly string[]): Promise<string | null> {
  const [count, stash, trees] = await Promise.all([
    git('rev-list', '--count', '--branches', 'HEAD', '--not', ...known, '--'),
    git('rev-parse', '--verify', '--quiet', 'refs/stash'),
    listRegistered(git),
  ]);
  if (!count.ok) return `what is not known: ${count.error}`;
  if (count.out !== '0') return 'commits on other branches, which are not pushed';
  if (stash.ok) return 'changes in `git stash`';
  return trees.length > 1 ? 'worktrees of workers' : null;
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

/** True for a folder with nothing in it; false for anything else, such as a file. */
export const isEmptyFolder = (path: string): Promise<boolean> =>
  readdir(path).then(
    (names) => names.length === 0,
    () => false,
  );
