import { existsSync } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FolderSnapshot } from '../core/run/snapshot.ts';
import type { WorkspacePlace, WorkspaceSource } from '../core/run/workspace.ts';
import { errorMessageOf } from '../errors.ts';
import { findGitPlace } from '../git-repository.ts';
import { removeBelow } from '../remove-below.ts';
import { createGit, type Git, type GitOptions } from './git.ts';
import { restoreSnapshot } from './snapshot-repository.ts';
import { makeFolderAbove } from './tree-folder.ts';
import { openWorkspace } from './workspace.ts';
import { deleteBranch, gitWorktreeAdd, removeWorktree } from './worktree.ts';

/** A folder that is to get the files of a snapshot. */
export interface RestoredFolder {
  readonly path: string;
  readonly snapshot: FolderSnapshot;
  /** The branch of the worktree that it becomes, and the repository of that; null for a plain folder. */
  readonly worktree: { readonly branch: string; readonly repository: string } | null;
}

/** The repository of a project whose snapshot was taken, by the folder that its worktrees share; null if it is not there any more. */
export const repositoryOf = (folder: string): string | null => {
  const place = existsSync(folder) ? findGitPlace(folder) : null;
  return place?.top === folder ? place.commonDir : null;
};

/** Makes a folder with the files of a snapshot; returns why that is not possible. */
export async function restoreFolder(
  snapshots: string,
  { path, snapshot, worktree }: RestoredFolder,
  options: GitOptions,
): Promise<string | null> {
  try {
    await makeFolderAbove(path);
    if (existsSync(path)) return `there is a folder ${path} already`;
    if (worktree === null || snapshot.head === null) {
      await mkdir(path, { mode: 0o700 });
      return await restoreSnapshot(snapshots, snapshot.tree, path, options);
    }
    const { branch, repository } = worktree;
    const git = createGit(repository, { ...options, repository });
    if (!(await git('cat-file', '-e', `${snapshot.head}^{commit}`)).ok)
      return `its commit ${snapshot.head.slice(0, 12)} is not in the repository ${repository} any more`;
    const place = { path, branch, base: snapshot.head, repository };
    const problem = await gitWorktreeAdd(git, place, ['--no-checkout', '-b', branch, path, snapshot.head]);
    if (problem !== null) return problem;
    const restored = await restoreSnapshot(snapshots, snapshot.tree, path, options);
    if (restored !== null) return restored;
    await settleIndex(createGit(path, { ...options, repository }));
    return null;
  } catch (error) {
    return errorMessageOf(error);
  }
}

/** Lets the index say what is committed: everything else of the snapshot is not. */
async function settleIndex(git: Git): Promise<void> {
  await git('read-tree', 'HEAD');
  await git('update-index', '-q', '--refresh');
}

/** Removes what was restored, or is half restored. */
export async function removeRestored(
  { path, worktree }: Pick<RestoredFolder, 'path' | 'worktree'>,
  options: GitOptions,
): Promise<void> {
  if (worktree !== null && existsSync(worktree.repository)) {
    const { branch, repository } = worktree;
    const git = createGit(repository, { ...options, repository });
    await removeWorktree(git, path);
    await deleteBranch(git, branch);
  }
  await removeBelow(dirname(dirname(path)), path).catch(() => {});
  // Those above, unless there is something else in them.
  for (const above of [dirname(path), dirname(dirname(path))]) await rmdir(above).catch(() => {});
}

/** A clone of the repository of a run, at the commit and with the files of a snapshot. */
export async function restoreWorkspace(
  snapshots: string,
  wanted: Pick<WorkspacePlace, 'path' | 'branch'> & {
    readonly source: WorkspaceSource;
    readonly before: WorkspacePlace;
  },
  snapshot: FolderSnapshot,
  options: GitOptions,
): Promise<{ readonly place: WorkspacePlace } | { readonly message: string }> {
  const { before, ...names } = wanted;
  const made = await openWorkspace({ ...names, place: null }, options);
  if ('message' in made || snapshot.head === null) return made;
  const { path, branch } = made.place;
  const git = createGit(path, { ...options, repository: made.place.repository });
  const hasCommit = async (): Promise<boolean> => (await git('cat-file', '-e', `${snapshot.head}^{commit}`)).ok;
  for (const from of [before.repository, before.remote]) {
    if (await hasCommit()) break;
    await git('fetch', '--quiet', '--no-tags', '--', from, `refs/heads/${before.branch}`);
  }
  if (!(await hasCommit()))
    return { message: `its commit ${snapshot.head.slice(0, 12)} was never pushed, and its clone is gone` };
  await git('update-ref', `refs/heads/${branch}`, snapshot.head);
  for (const name of await readdir(path))
    if (name !== '.git') await rm(join(path, name), { recursive: true, force: true });
  const problem = await restoreSnapshot(snapshots, snapshot.tree, path, options);
  if (problem !== null) return { message: problem };
  await settleIndex(git);
  return { place: { ...made.place, base: before.base } };
}

/** A larger ignored file is no setting. */
const MAX_IGNORED_BYTES = 1 << 20;

/**
 * Brings what git ignores, and no snapshot has, from the folder as it is now: small files, such as `.env`, and links to the files or folders
 * that the user names. Returns the names that are not there.
 */
export async function bringIgnored(
  from: string,
  to: string,
  links: readonly string[],
  options: GitOptions,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const name of links) {
    if (!existsSync(join(from, name))) missing.push(name);
    else if (!existsSync(join(to, name))) {
      await mkdir(dirname(join(to, name)), { recursive: true });
      await symlink(join(from, name), join(to, name));
    }
  }
  if (repositoryOf(from) === null) return missing;
  const listing = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  const { ok, out } = await createGit(from, options)(...listing);
  for (const path of ok ? out.split('\0') : []) {
    if (path === '' || path.endsWith('/') || existsSync(join(to, path))) continue;
    const stats = await lstat(join(from, path)).catch(() => null);
    if (stats === null || !stats.isFile() || stats.size > MAX_IGNORED_BYTES) continue;
    await mkdir(dirname(join(to, path)), { recursive: true });
    await copyFile(join(from, path), join(to, path));
  }
  return missing;
}
