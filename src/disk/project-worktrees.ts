import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { readPathFile, realPathOf } from '../git-repository.ts';

/** The name of the folder with the worktrees of a project: people can read it, and no other project has it. */
export function projectFolderName(project: string): string {
  const real = realPathOf(project);
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 8);
  const name = basename(real).replace(/[^\p{L}\p{N}._-]/gu, '-');
  return `${[...name].slice(0, 40).join('')}-${hash}`;
}

/**
 * The project whose run made a worktree: `PROJECT-HASH/RUN/AGENT`. Undefined for any other folder. A worktree names its repository in a file
 * that its agent can write, but only the real one has the hash.
 */
export function findProjectOfWorktree(folder: string): string | undefined {
  const name = basename(dirname(dirname(folder)));
  if (!/-[0-9a-f]{8}$/.test(name)) return undefined;
  const gitFolder = readPathFile(join(folder, '.git'), folder, 'gitdir: ');
  if (gitFolder === null) return undefined;
  // PROJECT/.git/worktrees/NAME
  const project = dirname(dirname(dirname(gitFolder)));
  return projectFolderName(project) === name ? project : undefined;
}
