import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { WorktreePlace } from '../core/worktree.ts';
import { errorMessageOf } from '../errors.ts';
import { createGit, type Git, type GitOptions } from './git.ts';

/*
 * Whoever works in a clone can change its settings, hooks and filters, and these name programs to run and other addresses to push to. Git
 * that Raymond runs there heeds those of the user and of the machine, and none of the clone.
 */

/** A clone, or a worktree of one: its folder, and the folder in which git keeps what all of them share. */
type ClonePlace = Pick<WorktreePlace, 'path' | 'repository'>;

/**
 * Lets git look at a clone, or at a worktree of one, and push from it. It takes branches, commits and files from there, and has a folder of
 * its own for all that the worktrees of a repository share besides. If that cannot be made, every command fails.
 */
export async function withCloneGit<Result>(
  { path, repository }: ClonePlace,
  options: GitOptions,
  use: (git: Git) => Promise<Result>,
): Promise<Result> {
  // In the clone, so that what a kill leaves of it goes with that.
  const shared = join(repository, `${SHARED_PREFIX}${randomUUID()}`);
  try {
    const variables = { GIT_DIR: await findGitFolder(path, repository), GIT_COMMON_DIR: shared, GIT_WORK_TREE: path };
    await fillShared(shared, repository, options);
    return await use(createGit(path, { ...options, variables }));
  } catch (error) {
    if (!(error instanceof CloneError)) throw error;
    return await use(async () => ({ ok: false, out: '', error: error.message }));
  } finally {
    await rm(shared, { recursive: true, force: true }).catch(() => {});
  }
}

/** The clone is not as Raymond has made it, or there is no room. */
class CloneError extends Error {}

/** The folder in which git keeps the commit and the index of a folder. A worktree names it, but only one of this repository is believed. */
async function findGitFolder(path: string, repository: string): Promise<string> {
  if (join(path, '.git') === repository && isCloneFolder(path)) return repository;
  const named = await readGitFile(path);
  const real = named === null ? null : await realpath(dirname(dirname(named))).catch(() => null);
  if (named === null || real !== (await realpath(repository).catch(() => null)))
    throw new CloneError(`${path} is no worktree of ${repository}`);
  return named;
}

/** Whether a folder is a whole repository, and not only a worktree of one. */
export const isCloneFolder = (path: string): boolean =>
  statSync(join(path, '.git'), { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The folder of git that a worktree names; null if it is no worktree. */
async function readGitFile(path: string): Promise<string | null> {
  const text = await readFile(join(path, '.git'), 'utf8').catch(() => '');
  const named = /^gitdir: (.*)$/m.exec(text)?.[1];
  return named === undefined ? null : resolve(path, named);
}

/** The clone that a folder is, or is a worktree of: those of a run lie side by side. Null for a worktree of any other repository. */
export async function findClone(path: string): Promise<ClonePlace | null> {
  if (isCloneFolder(path)) return { path, repository: join(path, '.git') };
  const named = await readGitFile(path);
  if (named === null) return null;
  const repository = dirname(dirname(named));
  return dirname(dirname(repository)) === dirname(await realpath(path)) ? { path, repository } : null;
}

const SHARED_PREFIX = 'raymond-';

/** What a clone does not decide. */
const OWN_NAMES: readonly string[] = ['HEAD', 'config', 'config.worktree', 'commondir', 'hooks', 'packed-refs'];

/** How files are stored, and how names are compared: what git has found out about the disk, and the format of the repository. */
const KNOWN_SETTINGS =
  '^(core\\.(filemode|symlinks|ignorecase|precomposeunicode)|extensions\\.(objectformat|refstorage))$';

async function fillShared(shared: string, repository: string, options: GitOptions): Promise<void> {
  try {
    await mkdir(shared, { mode: 0o700 });
    const all = await readdir(repository);
    const names = all.filter((name) => !OWN_NAMES.includes(name) && !name.startsWith(SHARED_PREFIX));
    // Git may have to make this one, and then has to make it there.
    for (const name of [...names, 'packed-refs']) await symlink(join(repository, name), join(shared, name));
    const config = ['config', '--file', join(repository, 'config'), '--no-includes', '--get-regexp', KNOWN_SETTINGS];
    await writeFile(join(shared, 'HEAD'), 'ref: refs/heads/none\n');
    const { out } = await createGit(shared, { ...options, variables: { GIT_DIR: shared } })(...config);
    await writeFile(join(shared, 'config'), formatConfig(out.split('\n')));
    // It is how Git LFS pushes the files that it keeps: nobody would have them any more when the clone is removed.
    if (names.includes('lfs')) {
      await mkdir(join(shared, 'hooks'));
      await writeFile(join(shared, 'hooks/pre-push'), LFS_PUSH, { mode: 0o755 });
    }
  } catch (error) {
    throw new CloneError(errorMessageOf(error));
  }
}

const LFS_PUSH = '#!/bin/sh\ngit lfs version >/dev/null 2>&1 || exit 0\nexec git lfs pre-push "$@"\n';

function formatConfig(lines: readonly string[]): string {
  const settings = lines.flatMap((line) => /^(core|extensions)\.(\w+) (\w+)$/.exec(line)?.slice(1).join(' ') ?? []);
  const version = settings.some((setting) => setting.startsWith('extensions ')) ? 1 : 0;
  // Its cleaning up would remove what it does not see from here.
  const own = ['gc auto 0', 'maintenance auto false', 'core bare false', `core repositoryformatversion ${version}`];
  return [...own, ...settings].map((setting) => setting.replace(/^(\w+) (\w+) /, '[$1] $2 = ')).join('\n');
}
