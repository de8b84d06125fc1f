import { join } from 'node:path';
import { findUserConfigFolder } from '../config/user-folder.ts';

/** The folder of fetched workflows; null if the environment names no home. */
export function findFetchedFolder(env: NodeJS.ProcessEnv): string | null {
  const folder = findUserConfigFolder(env);
  return folder === null ? null : join(folder, 'workflows');
}
