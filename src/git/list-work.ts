import { join, relative } from 'node:path';
import { readGitPlace, realPathOf } from '../git-repository.ts';
import { createGit, type GitOptions } from './git.ts';
import { readStatuses } from './git-status.ts';
import { type LeftPlace, ownCommits } from './held-work.ts';

/** The work in a worktree by name: files that are changed or new, and commits that no other branch or tag has. */
export interface ListedWork {
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
