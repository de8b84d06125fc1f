import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findUserConfigFolder } from '../../config/user-folder.ts';
import { makePrivateFolder, replaceFile } from '../../disk/files.ts';
import { findRaymondFolder } from '../../disk/layout.ts';
import { tryParseJson } from '../../language/text/json.ts';

/** As many as anybody looks at; the folders that were used longest ago are forgotten. */
const MAX_PROJECTS = 500;

/** The folder of the project that a working directory belongs to: the one that holds its `.raymond`. */
export const projectFolderOf = (cwd: string): string => dirname(findRaymondFolder(cwd));

/** Reads the project folders in which this user has started runs, the latest first. A list that cannot be read is empty. */
export function readKnownProjects(env: NodeJS.ProcessEnv): readonly string[] {
  const file = findProjectsFile(env);
  if (file === null) return [];
  try {
    const data = tryParseJson(readFileSync(file, 'utf8'));
    const folders = typeof data === 'object' && data !== null && 'projects' in data ? data.projects : [];
    return Array.isArray(folders) ? folders.filter((folder) => typeof folder === 'string') : [];
  } catch {
    return [];
  }
}

/** Remembers a project folder for `raymond list --all` and `raymond serve`. It never fails a run: the list is a convenience. */
export async function rememberProject(cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const file = findProjectsFile(env);
  const folder = projectFolderOf(cwd);
  const known = readKnownProjects(env);
  if (file === null || known[0] === folder) return;
  const kept = known.filter((each) => each !== folder && existsSync(join(each, '.raymond')));
  const projects = [folder, ...kept].slice(0, MAX_PROJECTS);
  try {
    await makePrivateFolder(dirname(file));
    await replaceFile(file, `${JSON.stringify({ projects }, null, 2)}\n`);
  } catch {
    // No home, no room, no permission: then the folder is not in the list.
  }
}

function findProjectsFile(env: NodeJS.ProcessEnv): string | null {
  const folder = findUserConfigFolder(env);
  return folder === null ? null : join(folder, 'projects.json');
}
