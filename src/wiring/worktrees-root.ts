import { dirname, join } from 'node:path';
import { findUserStateFolder } from '../config/user-folder.ts';
import type { Run } from '../core/run/run.ts';
import { type FolderLayout, projectFolderName } from '../disk/layout.ts';

/*
 * The worktrees of a project's runs are outside of the project, where its test runners and searches do not find them. A run remembers
 * its folder. Runs of older versions, those of nodes and those of tests have it in `.raymond`.
 */

/** The folder of the git worktrees of a run. */
export const worktreesFolderOf = (layout: FolderLayout, { id, workFolders }: Pick<Run, 'id' | 'workFolders'>): string =>
  workFolders?.worktrees ?? layout.worktreesFolder(id);

/** The folder of the worktrees of a project's new runs; null if the environment names no home: then `.raymond` has them. */
export function findWorktreesRoot(
  layout: FolderLayout,
  env: NodeJS.ProcessEnv,
  worktreeDir: string | null,
): string | null {
  const state = findUserStateFolder(env);
  const above = worktreeDir ?? (state === null ? null : join(state, 'worktrees'));
  return above === null ? null : join(above, projectFolderName(dirname(layout.root)));
}
