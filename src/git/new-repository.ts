import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import {
  findGitPlace,
  findRepositoryEntry,
  isWithin,
  listFoldersUp,
  readGitPlace,
  readPathFile,
  realPathOf,
} from '../git-repository.ts';

/** The folders that decide whether git may be started in another one. */
interface KnownFolders {
  /** The run was started here, or somebody works here already: git finds no other repository from there than before. */
  readonly entered: readonly string[];
  /** Folders that the author or the user has named, each by its whole path. */
  readonly named: readonly string[];
  readonly start: string;
  readonly startedAt: number;
}

/**
 * Finds the folder, from this one up, that has become a repository since the run started; null if there is none. Claude Code starts git where
 * it works, and git starts programs that the settings of a repository name. What is younger than the run may be written by an agent, whose
 * tools set no birth time; so a resume, also after a crash, comes to the same result.
 */
export function findNewRepository(folder: string, known: KnownFolders): string | null {
  const { entered, named, start, startedAt } = known;
  for (const each of listFoldersUp(folder, '')) {
    if (entered.some((one) => isWithin(one, each))) return null;
    const entry = findRepositoryEntry(each);
    if (entry === null || isOld(entry, startedAt) || isSubmoduleOf(entry, start)) continue;
    if (basename(entry) !== '.git' || !named.includes(each)) return each;
  }
  return null;
}

function isOld(entry: string, startedAt: number): boolean {
  const target = readPathFile(entry, dirname(entry), 'gitdir: ');
  const isBare = basename(entry) !== '.git';
  const folder = isBare ? dirname(entry) : (target ?? entry);
  const parts = ['objects', 'refs', ...(isBare ? ['config', 'commondir'] : [])].map((name) => join(folder, name));
  const paths = [entry, ...(isBare ? [] : [folder, ...listReachableSettings(dirname(entry))]), ...parts];
  return paths.every((path) => ageOf(path) <= startedAt);
}

/** The settings and hooks of a repository that keeps them in a folder of another name than `.git`: agents can write there. */
function listReachableSettings(top: string): readonly string[] {
  const place = readGitPlace(top);
  const folders = place === null ? [] : [...new Set([place.gitDir, place.commonDir])];
  return folders
    .filter((folder) => !folder.split(sep).includes('.git'))
    .flatMap((folder) => [...SETTINGS_FILES.map((name) => join(folder, name)), ...listFiles(join(folder, 'hooks'))]);
}

const SETTINGS_FILES = ['config', 'config.worktree', 'commondir'];

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** When a folder was made, or a file last changed: an old file can be given another content. */
function ageOf(path: string): number {
  let stats: Stats | undefined;
  try {
    stats = lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return Number.POSITIVE_INFINITY;
  }
  if (stats === undefined) return 0;
  return stats.isDirectory() && stats.birthtimeMs > 0 ? stats.birthtimeMs : stats.ctimeMs;
}

/** True for a submodule of the repository in which the run was started, which git keeps in there. */
function isSubmoduleOf(entry: string, start: string): boolean {
  const gitDir = readPathFile(entry, dirname(entry), 'gitdir: ');
  const repository = findGitPlace(start)?.commonDir;
  return gitDir !== null && repository !== undefined && isWithin(realPathOf(gitDir), join(repository, 'modules'));
}
