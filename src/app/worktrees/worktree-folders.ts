import { existsSync } from 'node:fs';
import { readdir, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runIdProblem } from '../../core/run/ids.ts';
import { type FolderLayout, projectFolderName } from '../../disk/layout.ts';
import { RaymondError } from '../../errors.ts';
import { isWorktreeFolder, removeTree } from '../../git/tree-folder.ts';
import { isWithin } from '../../git-repository.ts';
import { findLinkOnTheWay } from '../../remove-below.ts';
import { loadSnapshot } from '../../storage/files/load.ts';
import { listRunIds } from '../../storage/files/runs.ts';
import { findWorktreesRoot } from '../../wiring/worktrees-root.ts';
import { loadConfig } from '../config/load-config.ts';

/** A folder with the worktrees of a run; the run may have been removed. */
export interface WorktreesFolder {
  readonly run: string;
  readonly folder: string;
}

/** Finds the folders with worktrees of a project's runs, or of one run, wherever these were made. */
export async function findWorktreesFolders(
  layout: FolderLayout,
  env: NodeJS.ProcessEnv,
  only?: string,
): Promise<readonly WorktreesFolder[]> {
  const roots = [
    layout.worktreesRoot,
    ...[null, configuredFolder(layout, env)].map((dir) => findWorktreesRoot(layout, env, dir)),
  ];
  const found = new Map<string, WorktreesFolder>();
  // A link leads to folders of others, which are not worktrees of this run whatever they hold. The user may have linked the folder above.
  const add = (run: string, folder: string): void => {
    const top = isWithin(folder, layout.root) ? layout.root : dirname(folder);
    if (existsSync(folder) && findLinkOnTheWay(top, join(folder, 'x')) === null) found.set(folder, { run, folder });
  };
  for (const root of new Set(roots)) {
    if (root === null) continue;
    const runs = only === undefined ? await namesIn(root) : [only];
    for (const run of runs) if (runIdProblem(run) === undefined) add(run, join(root, run));
  }
  for (const run of only === undefined ? await listRunIds(layout) : [only]) {
    const folder = await findRemembered(layout, run);
    if (folder !== null) add(run, folder);
  }
  return [...found.values()].toSorted((a, b) => (a.run < b.run ? -1 : Number(a.run > b.run)));
}

/** Removes what kills left of worktrees that were being removed or made, and folders in which nothing is left. No run may be at work there. */
export async function removeRemains(folders: readonly WorktreesFolder[]): Promise<void> {
  for (const { folder } of folders) {
    for (const name of await namesIn(folder))
      if (!isWorktreeFolder(name)) await removeTree(join(folder, name)).catch(() => {});
    for (const each of [folder, dirname(folder)]) await rmdir(each).catch(() => {});
  }
}

/** The folder that a run remembers. A file that another wrote can name any: only one of this project and this run is believed. */
async function findRemembered(layout: FolderLayout, run: string): Promise<string | null> {
  const { workFolders } = await loadSnapshot(layout, run).then(
    (loaded) => loaded.run,
    (error: unknown) => {
      if (error instanceof RaymondError) return { workFolders: null };
      throw error;
    },
  );
  const folder = workFolders?.worktrees;
  if (folder === undefined || basename(folder) !== run) return null;
  return basename(dirname(folder)) === projectFolderName(dirname(layout.root)) ? folder : null;
}

function configuredFolder({ root }: FolderLayout, env: NodeJS.ProcessEnv): string | null {
  try {
    return loadConfig(dirname(root), env).options.worktreeDir ?? null;
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    return null;
  }
}

/** The names of the folders in a folder, without links. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
