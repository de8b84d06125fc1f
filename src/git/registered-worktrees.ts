import { realpath } from 'node:fs/promises';
import type { Git } from './git.ts';

/** A worktree that a repository knows. */
export interface RegisteredWorktree {
  readonly path: string;
  /** Null if it is on none. */
  readonly branch: string | null;
  /** True if git was ended while it made it. */
  readonly isHalfMade: boolean;
}

/** The locks of git itself, and of Raymond, while a worktree is made. */
const HALF_MADE = ['locked initializing', 'locked added with --lock'];

const [PATH, BRANCH] = ['worktree ', 'branch refs/heads/'];

/** Lists the worktrees of a repository, the main one first. */
export async function listRegistered(git: Git): Promise<readonly RegisteredWorktree[]> {
  const exact = await git('worktree', 'list', '--porcelain', '-z');
  // Git before 2.36 has no -z: there, a line break in a path ends it.
  const out = exact.ok ? exact.out : (await git('worktree', 'list', '--porcelain')).out.replaceAll('\n', '\0');
  return out.split('\0\0').flatMap((block) => {
    const lines = block.split('\0');
    const [first = ''] = lines;
    if (!first.startsWith(PATH)) return [];
    return {
      path: first.slice(PATH.length),
      branch: lines.find((line) => line.startsWith(BRANCH))?.slice(BRANCH.length) ?? null,
      isHalfMade: HALF_MADE.some((lock) => lines.includes(lock)),
    };
  });
}

/** Finds a registered worktree by its path. */
export async function findRegistered(git: Git, path: string): Promise<RegisteredWorktree | undefined> {
  const real = await realpath(path).catch(() => path);
  return (await listRegistered(git)).find((each) => each.path === path || each.path === real);
}
