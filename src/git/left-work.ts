import { join, relative } from 'node:path';
import { readGitPlace, realPathOf } from '../git-repository.ts';
import { createGit, type GitOptions } from './git.ts';
import { readStatuses } from './git-status.ts';
import { findMoreInClone, findWork, isCloneFolder, isEmptyFolder, type LeftPlace, ownCommits } from './held-work.ts';
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

/** The work in a worktree by name: files that are changed or new, and commits that no other branch or tag has. */
interface ListedWork {
  readonly files: readonly string[];
  readonly commits: readonly string[];
}

/** Lists what would be lost with a worktree; nothing if git cannot tell. */
export async function listWork(place: LeftPlace, options: GitOptions): Promise<ListedWork> {
  const top = realPathOf(place.path);
  const found = readGitPlace(top);
  if (found === null) return { files: [], commits: [] };
  const own = { ...options, repository: found.commonDir };
  const [statuses, log] = await Promise.all([
    readStatuses(top, own, ['--porcelain', '-z', '--no-renames', '--untracked-files=normal']),
    createGit(top, own)('log', '-z', '--format=%h %s', ...ownCommits(place)),
  ]);
  const files =
    'problem' in statuses ? [] : statuses.flatMap((status) => listFiles(status.out, relative(top, status.top)));
  return { files, commits: log.ok ? log.out.split('\0').filter((line) => line !== '') : [] };
}

/** The files of a status with NUL bytes, of the repository itself or of a submodule in a folder of it. */
const listFiles = (status: string, folder: string): readonly string[] =>
  status.split('\0').flatMap((entry) => (entry.length > 3 ? join(folder, entry.slice(3)) : []));
