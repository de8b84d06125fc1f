import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import { resolvePackageFile } from '../package-files.ts';
import { createFolderWithParents, describeFolderContent, describeWriteError } from './new-folder.ts';
import { usageError } from './usage-error.ts';

/** The folder of a demo: as the user sees it, and where it is. */
export interface DemoFolder {
  readonly name: string;
  readonly path: string;
}

const DEFAULT_NAME = 'raymond-demo';
const OTHER_FOLDER_HINT = 'Name another folder: raymond demo DIR';

/** Makes the folder, with the workflow in it and nothing else. One that holds something is left alone. */
export function makeDemoFolder(requestedName: string | undefined, cwd: string): DemoFolder {
  const name = requestedName?.replace(/(?<=.)\/+$/, '') ?? findFreeName(cwd);
  const path = resolve(cwd, name);
  try {
    const content = describeFolderContent(path, () => true);
    if (content !== null) throw usageError(`${name} is not empty: ${content}`, OTHER_FOLDER_HINT);
    // With a `.raymond` of its own the demo leaves no trace outside its folder.
    createFolderWithParents(join(path, '.raymond'), 0o700);
    cpSync(resolvePackageFile('examples/demo'), join(path, 'workflow'), { recursive: true });
  } catch (error) {
    if (errorCodeOf(error) === '') throw error;
    throw usageError(`${name} cannot be written: ${describeWriteError(error)}`, OTHER_FOLDER_HINT);
  }
  return { name, path };
}

/** The files that the demo has made, with their lengths in lines. */
export function listMadeFiles({ path }: DemoFolder): readonly { readonly name: string; readonly lines: number }[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, lines: readFileSync(join(path, name), 'utf8').split('\n').length - 1 }));
}

/** `raymond-demo`, or `raymond-demo-2` and so on if there was a demo before. */
function findFreeName(cwd: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? DEFAULT_NAME : `${DEFAULT_NAME}-${number}`;
    if (!isTaken(resolve(cwd, name))) return name;
  }
}

/** What cannot be looked into is taken, too. */
function isTaken(path: string): boolean {
  try {
    return describeFolderContent(path, () => true) !== null;
  } catch {
    return true;
  }
}
