import { join } from 'node:path';
import { layoutOf } from '../src/disk/layout.ts';
import { findWorktreesRoot } from '../src/wiring/worktrees-root.ts';

/** The folder of the worktrees of a run in this project. */
export function worktreesFolder(project: string, run: string, env: NodeJS.ProcessEnv = process.env): string {
  const root = findWorktreesRoot(layoutOf(join(project, '.raymond')), env, null);
  if (root === null) throw new Error('there is no home');
  return join(root, run);
}
