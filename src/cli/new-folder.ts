import { mkdirSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCodeOf } from '../errors.ts';

/** Makes a folder and those above it, one by one: where no folder can be made, such as in /proc, Node's own way never ends. */
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

/** What a folder holds, in words: `a file`, or `a file and 2 more`; null if it is empty or not there. */
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

/** Why nothing can be written there, in words. */
export const describeWriteError = (error: unknown): string => WRITE_ERRORS[errorCodeOf(error)] ?? String(error);

const WRITE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'no folder can be made there',
  EEXIST: 'there is a file in the way',
  ENOTDIR: 'there is a file where a folder should be',
  EACCES: 'permission was denied',
  EPERM: 'permission was denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
};
