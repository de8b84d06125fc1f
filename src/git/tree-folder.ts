import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import { removeBelow } from '../remove-below.ts';

/** The end of the name of a clone's folder while it is made. */
export const PARTIAL_SUFFIX = '.partial';
const REMOVED_SUFFIX = '.removed';

/** True if a folder with this name among the worktrees of a run is one, and not one that is half made or half removed. */
export const isWorktreeFolder = (name: string): boolean =>
  !name.endsWith(REMOVED_SUFFIX) && !name.endsWith(PARTIAL_SUFFIX);

/** True if the removal of a worktree or clone was cut short. */
export const isHalfRemoved = (path: string): boolean => existsSync(`${path}${REMOVED_SUFFIX}`);

/** Makes the folder for the worktrees of a run, for the user alone. */
export async function makeFolderAbove(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    const advice = 'set `worktree_dir` to a folder that you can write to';
    throw new Error(`the folder ${dirname(path)} cannot be made (${errorCodeOf(error)}): ${advice}`);
  });
}

/** Removes a folder among the worktrees of a run, of which the path is `PROJECT/RUN/AGENT`. None of these may be a link. */
export const removeTree = (path: string): Promise<void> => removeBelow(dirname(dirname(path)), path);

/**
 * Removes the folder of a worktree or clone as a whole, so that what is left of it after a crash does not look like somebody's changes.
 * `forget` runs when it has lost its name.
 */
export async function removeAtOnce(path: string, forget?: () => Promise<unknown>): Promise<void> {
  const moved = `${path}${REMOVED_SUFFIX}`;
  await removeTree(moved);
  if (existsSync(path)) await rename(path, moved);
  await forget?.();
  await removeTree(moved);
}
