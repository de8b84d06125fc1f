import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { findGitPlace, isWithin } from '../../git-repository.ts';
import type { Environment } from '../../process/command.ts';

/** The folders, besides those called `.git`, from which git starts programs in these folders, and the files that its settings include. */
export function findGitPlaces(folders: readonly string[], env: Environment): readonly string[] {
  const places = folders.flatMap((folder) => findGitPlace(folder) ?? []);
  const own = places.flatMap(({ gitDir, commonDir }) => [gitDir, commonDir]);
  const bases = [...new Set([...folders, ...places.map(({ top }) => top)])];
  const found = new Set(own.filter((folder) => !folder.split(sep).includes('.git')));
  const files = [...own.flatMap((folder) => OWN_FILES.map((name) => join(folder, name))), ...listUserFiles(env)];
  for (const file of new Set(files)) addNamedPaths(found, file, bases, env.HOME ?? '');
  return [...found].filter((place) => !folders.some((folder) => isWithin(folder, place)));
}

/** The files of settings of a repository. */
const OWN_FILES = ['config', 'config.worktree'];

/** The files of settings of the user and of the machine. */
const listUserFiles = ({ HOME = '', XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM }: Environment): string[] => [
  GIT_CONFIG_SYSTEM || '/etc/gitconfig',
  ...(GIT_CONFIG_GLOBAL
    ? [GIT_CONFIG_GLOBAL]
    : [join(HOME, '.gitconfig'), join(XDG_CONFIG_HOME || join(HOME, '.config'), 'git', 'config')]),
];

/** A line of settings with the folder of hooks, or with a file to include. */
const NAMED_PATH = /^(?:.*\])?[ \t]*(hookspath|path)[ \t]*=[ \t]*"?([^"#;\n]+)/gim;
const MAX_CONFIG_BYTES = 1024 * 1024;

/**
 * Adds the folders of hooks that a file of settings names, and the files that it includes with what they name. Git itself cannot be asked
 * for each turn; one path too many does no harm.
 */
function addNamedPaths(found: Set<string>, file: string, bases: readonly string[], home: string): void {
  for (const [, key = '', written = ''] of readText(file).matchAll(NAMED_PATH)) {
    const path = written.trim().replace(/^~(?=\/)/, home);
    if (key.toLowerCase() === 'hookspath') for (const base of bases) found.add(resolve(base, path));
    else {
      const included = resolve(dirname(file), path);
      if (found.has(included)) continue;
      found.add(included);
      addNamedPaths(found, included, bases, home);
    }
  }
}

function readText(file: string): string {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats?.isFile() && stats.size <= MAX_CONFIG_BYTES ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}
