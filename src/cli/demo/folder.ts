import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf } from '../../errors.ts';
import { shipped } from '../../shipped.ts';
import { contentOf, makeFolder, reasonOf } from '../new-folder.ts';
import { usage } from '../usage.ts';

/** The folder of a demo: as the user sees it, and where it is. */
export interface DemoFolder {
  readonly name: string;
  readonly path: string;
}

const USUAL = 'raymond-demo';
const ELSEWHERE = 'Name another folder: raymond demo DIR';

/** Makes the folder, with the workflow in it and nothing else. One that holds something is left alone. */
export function makeDemoFolder(given: string | undefined, cwd: string): DemoFolder {
  const name = given?.replace(/(?<=.)\/+$/, '') ?? freeName(cwd);
  const path = resolve(cwd, name);
  try {
    const content = contentOf(path, () => true);
    if (content !== null) throw usage(`${name} is not empty: ${content}`, ELSEWHERE);
    // With a `.raymond` of its own the demo leaves no trace outside its folder.
    makeFolder(join(path, '.raymond'), 0o700);
    cpSync(shipped('examples/demo'), join(path, 'workflow'), { recursive: true });
  } catch (error) {
    if (codeOf(error) === '') throw error;
    throw usage(`${name} cannot be written: ${reasonOf(error)}`, ELSEWHERE);
  }
  return { name, path };
}

/** The files that the demo has made, with their lengths in lines. */
export function filesMade({ path }: DemoFolder): readonly { readonly name: string; readonly lines: number }[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, lines: readFileSync(join(path, name), 'utf8').split('\n').length - 1 }));
}

/** `raymond-demo`, or `raymond-demo-2` and so on if there was a demo before. */
function freeName(cwd: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? USUAL : `${USUAL}-${number}`;
    if (!isTaken(resolve(cwd, name))) return name;
  }
}

/** What cannot be looked into is taken, too. */
function isTaken(path: string): boolean {
  try {
    return contentOf(path, () => true) !== null;
  } catch {
    return true;
  }
}
