import { lstatSync, type Stats } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { EXIT, RaymondError } from './errors.ts';
import { isWithin } from './git-repository.ts';

/** Removes a file or folder that is below a root. It follows no link: one on the way, or the root itself, leads to what others own. */
export async function removeBelow(root: string, path: string): Promise<void> {
  refuseLinksOnTheWay(root, path);
  await rm(path, { recursive: true, force: true });
}

/** Refuses a path that leads out of a root, by its name or through a link. A link at its end is not followed by who removes it. */
export function refuseLinksOnTheWay(root: string, path: string): void {
  const link = findLinkOnTheWay(root, path);
  if (link === null) return;
  throw new RaymondError(`${link} is a link: nothing is removed through it.`, {
    exitCode: EXIT.usage,
    hint: 'Look where it leads. If it may go, remove it yourself, then try again.',
  });
}

/** The first link on the way from a root to a path below it, the root itself included; null if there is none. */
export function findLinkOnTheWay(root: string, path: string): string | null {
  if (path === root || !isWithin(path, root)) throw new Error(`${path} is not below ${root}`);
  const names = relative(root, path).split(sep).slice(0, -1);
  let folder = root;
  for (const name of ['', ...names]) {
    folder = join(folder, name);
    if (lstatOf(folder)?.isSymbolicLink() === true) return folder;
  }
  return null;
}

function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
