import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import { resolvePackageFile } from '../package-files.ts';
import { quoteShellArgument } from '../render/format.ts';
import type { Terminal } from '../render/terminal/terminal.ts';

/** Creates a folder and its parents. Node's `recursive` never returns where no folder can be created, such as in /proc. */
export function createFolderWithParents(folder: string, mode?: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return void readdirSync(folder);
    const parent = dirname(folder);
    if (errorCodeOf(error) !== 'ENOENT' || parent === folder) throw error;
    createFolderWithParents(parent);
    mkdirSync(folder, { mode });
  }
}

/** Describes what a folder holds: `a.txt`, or `a.txt and 2 more`; null if it is empty or does not exist. */
export function describeFolderContent(folder: string, isCounted: (name: string) => boolean): string | null {
  try {
    const [first, ...more] = readdirSync(folder).filter(isCounted);
    if (first === undefined) return null;
    return more.length === 0 ? first : `${first} and ${more.length} more`;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Says in words why nothing can be written there. */
export const describeWriteError = (error: unknown): string => WRITE_ERRORS[errorCodeOf(error)] ?? String(error);

const WRITE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'no folder can be created there',
  EEXIST: 'there is a file in the way',
  ENOTDIR: 'there is a file where a folder should be',
  EACCES: 'permission was denied',
  EPERM: 'permission was denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
};

const MAIN_FILE = resolvePackageFile('dist/raymond.js');
const EXECUTABLE_NAMES = process.platform === 'win32' ? ['raymond.cmd', 'raymond.exe'] : ['raymond'];

/** The command that calls Raymond from a folder: its name if that is on the PATH, otherwise `node` and its file. */
export function findRaymondCommand(folder: string, { env }: Pick<Terminal, 'env'>): string {
  const pathFolders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((pathFolder) => pathFolder !== '');
  if (pathFolders.some((pathFolder) => EXECUTABLE_NAMES.some((name) => existsSync(join(pathFolder, name)))))
    return 'raymond';
  const relativePath = relative(folder, MAIN_FILE);
  return `node ${quoteShellArgument(relativePath.length < MAIN_FILE.length ? relativePath : MAIN_FILE)}`;
}
