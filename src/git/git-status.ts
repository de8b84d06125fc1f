import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findGitPlace, readGitPlace } from '../git-repository.ts';
import { createGit, type GitOptions } from './git.ts';

/** The state of a checked-out repository: the folder with its files, and what `git status` prints about them. */
export interface GitStatus {
  readonly top: string;
  readonly out: string;
}

/**
 * Runs `git status` in a folder and in the filled submodules of its repository, each with its own repository: git itself would start another
 * git in a submodule, and that one would obey whatever it finds there.
 */
export async function readStatuses(
  cwd: string,
  options: GitOptions,
  args: readonly string[],
): Promise<readonly GitStatus[] | { readonly problem: string }> {
  const { ok, out, error } = await createGit(cwd, options)('status', '--ignore-submodules=dirty', ...args);
  const place = findGitPlace(cwd);
  if (!ok || place === null) return { problem: error };
  const found: GitStatus[] = [{ top: place.top, out }];
  for (const folder of await listSubmodules(place, options)) {
    const inner = await readStatuses(folder, { ...options, repository: readGitPlace(folder)?.commonDir ?? '' }, args);
    if ('problem' in inner) return inner;
    found.push(...inner);
  }
  return found;
}

/** True if a worktree has changes that are not committed, also in a submodule. */
export async function isDirty(path: string, options: GitOptions): Promise<boolean | { readonly problem: string }> {
  const statuses = await readStatuses(path, options, ['--porcelain', '--untracked-files=normal']);
  return 'problem' in statuses ? statuses : statuses.some(({ out }) => out !== '');
}

/** The folders of the submodules that are filled. */
async function listSubmodules(
  { top, gitDir, commonDir }: NonNullable<ReturnType<typeof findGitPlace>>,
  options: GitOptions,
): Promise<readonly string[]> {
  const traces = [join(top, '.gitmodules'), join(gitDir, 'modules'), join(commonDir, 'modules')];
  if (!traces.some(existsSync)) return [];
  const { out } = await createGit(top, { ...options, repository: commonDir })('ls-files', '--stage', '-z');
  return out
    .split('\0')
    .flatMap((entry) => /^160000 [^\t]*\t(.*)$/s.exec(entry)?.[1] ?? [])
    .map((path) => join(top, path))
    .filter((folder) => readGitPlace(folder) !== null);
}
