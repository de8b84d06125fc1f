import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { WorktreePlace } from '../core/worktree.ts';
import type { Git } from './git.ts';

/** Says why a worker gets no worktree. */
export const refuseWorktree = (reason: string): { readonly message: string } => ({
  message: `no worktree can be made for it: ${reason}`,
});

interface Repository extends Pick<WorktreePlace, 'base' | 'repository'> {
  /** The path of the folder in the repository. */
  readonly prefix: string;
}

/** Finds the repository of a folder and the commit that it is at. */
export async function findRepository(git: Git, cwd: string): Promise<Repository | { readonly message: string }> {
  const { ok, out, error } = await git(
    'rev-parse',
    '--show-toplevel',
    '--show-prefix',
    '--git-common-dir',
    'HEAD^{commit}',
  );
  const [top, prefix, common, base] = out.split('\n');
  if (ok && prefix !== undefined && common !== undefined && base !== undefined)
    return { prefix, base, repository: resolve(cwd, common) };
  if (common !== undefined) return refuseWorktree(await explainNoCommit(git, top ?? cwd));
  if (error.includes('must be run in a work tree'))
    return refuseWorktree(`${cwd} is in a repository without files (a bare one, or its .git folder)`);
  if (!error.includes('not a git repository')) return refuseWorktree(error);
  const damaged = findAbove(cwd, '.git');
  return refuseWorktree(
    damaged === null
      ? `${cwd} is not in a git repository: make one with \`git init\``
      : `git does not take ${damaged} for a repository: it is damaged`,
  );
}

async function explainNoCommit(git: Git, top: string): Promise<string> {
  const head = await git('rev-parse', '--quiet', '--verify', 'HEAD');
  return head.ok
    ? `the repository ${top} is damaged: its commit ${head.out} cannot be read (\`git fsck\` tells more)`
    : `the repository ${top} has no commit yet: make one first`;
}

/** Finds a file in a folder or in one above it. */
function findAbove(folder: string, name: string): string | null {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  return dirname(folder) === folder ? null : findAbove(dirname(folder), name);
}
