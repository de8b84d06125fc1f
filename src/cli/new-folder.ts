import { mkdirSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../errors.ts';

/** Makes a folder and those above it, one by one: where no folder can be made, such as in /proc, Node's own way never ends. */
export function makeFolder(folder: string, mode?: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return void readdirSync(folder);
    const above = dirname(folder);
    if (codeOf(error) !== 'ENOENT' || above === folder) throw error;
    makeFolder(above);
    mkdirSync(folder, { mode });
  }
}

/** What a folder holds, in words: `a file`, or `a file and 2 more`; null if it is empty or not there. */
export function contentOf(folder: string, counts: (name: string) => boolean): string | null {
  try {
    const [first, ...more] = readdirSync(folder).filter(counts);
    if (first === undefined) return null;
    return more.length === 0 ? first : `${first} and ${more.length} more`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Why nothing can be written there, in words. */
export const reasonOf = (error: unknown): string => REASONS[codeOf(error)] ?? String(error);

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no folder can be made there',
  EEXIST: 'there is a file in the way',
  ENOTDIR: 'there is a file where a folder should be',
  EACCES: 'permission was denied',
  EPERM: 'permission was denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
};
