import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/*
 * Finds git repositories without running git, which would obey the settings of whatever it finds. Only a `.git` entry makes a repository: a
 * folder that itself looks like a bare one can be made of three text files.
 */

/** A checked-out repository: its files, and where git keeps what belongs to them. */
export interface GitPlace {
  /** The folder with the files, without links. */
  readonly top: string;
  /** The folder with HEAD and the index of these files. */
  readonly gitDir: string;
  /** The folder with everything that the worktrees of the repository share. */
  readonly commonDir: string;
}

/** Finds the repository that a folder belongs to, as git would; `ceilings` is a value of GIT_CEILING_DIRECTORIES. */
export function findGitPlace(folder: string, ceilings?: string): GitPlace | null {
  for (const each of listFoldersUp(realPathOf(folder), ceilings)) {
    const place = readGitPlace(each);
    if (place !== null) return place;
  }
  return null;
}

/** A folder and those above it in which git and Raymond look for what belongs to it: none that is a ceiling, or above one. */
export function listFoldersUp(folder: string, ceilings = process.env.GIT_CEILING_DIRECTORIES ?? ''): readonly string[] {
  const real = ceilings === '' ? folder : realPathOf(folder);
  const limits = ceilings.split(delimiter).filter(isAbsolute).map(realPathOf);
  const nearest = Math.max(-1, ...limits.filter((each) => each !== real && isWithin(real, each)).map(depthOf));
  const found = [folder];
  for (let each = dirname(folder); each !== found.at(-1); each = dirname(each)) {
    if (nearest >= 0 && depthOf(realPathOf(each)) <= nearest) break;
    found.push(each);
  }
  return found;
}

/** Reads the repository whose files are in this very folder; null if it is none, or damaged. */
export function readGitPlace(folder: string): GitPlace | null {
  const entry = join(folder, '.git');
  const stats = statOf(entry);
  if (stats === null) return null;
  const gitDir = stats.isDirectory() ? entry : readPathFile(entry, folder, 'gitdir: ');
  if (gitDir === null) return null;
  const commonDir = readPathFile(join(gitDir, 'commondir'), gitDir) ?? gitDir;
  const isWhole = hasHead(gitDir) && ['objects', 'refs'].every((name) => statOf(join(commonDir, name))?.isDirectory());
  return isWhole ? { top: folder, gitDir: realPathOf(gitDir), commonDir: realPathOf(commonDir) } : null;
}

/** The entry that makes a folder look like a repository to some version of git, a bare one included; null if it has none. */
export function findRepositoryEntry(folder: string): string | null {
  const has = (name: string): boolean => lstatOf(join(folder, name)) !== null;
  if (has('.git')) return join(folder, '.git');
  const isBareLike = has('HEAD') && ['objects', 'refs', 'config', 'commondir'].some(has);
  return isBareLike ? join(folder, 'HEAD') : null;
}

/** Reads the path that a file of git holds, such as the `.git` file of a worktree; null if it holds none. */
export function readPathFile(file: string, base: string, prefix = ''): string | null {
  const stats = statOf(file);
  if (stats === null || !stats.isFile() || stats.size > MAX_PATH_FILE_BYTES) return null;
  try {
    const text = readFileSync(file, 'utf8');
    const path = text.startsWith(prefix) ? text.slice(prefix.length).replace(/[\r\n]+$/, '') : '';
    return path === '' ? null : resolve(base, path);
  } catch {
    return null;
  }
}

const MAX_PATH_FILE_BYTES = 64 * 1024;

function hasHead(gitDir: string): boolean {
  const file = join(gitDir, 'HEAD');
  try {
    if (lstatSync(file).isSymbolicLink()) return readlinkSync(file).startsWith('refs/');
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > MAX_PATH_FILE_BYTES) return false;
    return /^(?:ref:\s*refs\/|[0-9a-f]{40})/.test(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}

/** True if a path is a folder or below it. */
export function isWithin(path: string, folder: string): boolean {
  const fromFolder = relative(folder, path);
  return fromFolder !== '..' && !fromFolder.startsWith(`..${sep}`) && !isAbsolute(fromFolder);
}

const depthOf = (path: string): number => path.split(sep).filter((name) => name !== '').length;

/** A path without links; as it is if it does not exist. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function lstatOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
