import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { WorktreePlace } from '../core/run/worktree.ts';
import { findGitPlace, findRepositoryEntry, isWithin, listFoldersUp, realPathOf } from '../git-repository.ts';
import { createGit, type Git, type GitOptions } from './git.ts';

/** Says why a worker gets no worktree. */
export const refuseWorktree = (reason: string): { readonly message: string } => ({
  message: `no worktree can be made for it: ${reason}`,
});

interface Repository extends Pick<WorktreePlace, 'base' | 'repository'> {
  /** The path of the folder in the repository; empty for its top. */
  readonly prefix: string;
}

/** Finds the repository of a folder and the commit that it is at. */
export async function findRepository(
  cwd: string,
  options: GitOptions,
): Promise<Repository | { readonly message: string }> {
  if (!existsSync(cwd)) return refuseWorktree(`there is no folder ${cwd}`);
  const place = findGitPlace(cwd);
  const folder = realPathOf(cwd);
  if (place === null || isWithin(folder, place.gitDir) || isWithin(folder, place.commonDir))
    return refuseWorktree(explainNoRepository(cwd));
  const git = createGit(cwd, options);
  const { ok, out: base, error } = await git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  if (!ok) return refuseWorktree(error.startsWith('git says: ') ? await explainNoCommit(git, place.top) : error);
  const prefix = relative(place.top, folder).split(sep).join('/');
  if (prefix !== '' && !(await git('rev-parse', '--verify', '--quiet', `${base}:${prefix}`)).ok)
    return refuseWorktree(`${cwd} is not committed: commit a file in it first`);
  return { prefix, base, repository: place.commonDir };
}

function explainNoRepository(cwd: string): string {
  const entry = listFoldersUp(cwd)
    .map(findRepositoryEntry)
    .find((found) => found !== null);
  if (entry == null) return `${cwd} is not in a git repository: make one with \`git init\``;
  const isWhole = findGitPlace(cwd) !== null || !entry.endsWith(join(sep, '.git'));
  return isWhole
    ? `${cwd} is in a repository without files (a bare one, or its .git folder)`
    : `git does not take ${entry} for a repository: it is damaged`;
}

async function explainNoCommit(git: Git, top: string): Promise<string> {
  const head = await git('rev-parse', '--quiet', '--verify', 'HEAD');
  if (head.ok)
    return `the repository ${top} is damaged: its commit ${head.out} cannot be read (\`git fsck\` tells more)`;
  return head.error === 'git says: ' ? `the repository ${top} has no commit yet: make one first` : head.error;
}
