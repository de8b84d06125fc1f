import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGit, type GitOptions } from './git.ts';

/** Makes a git repository of the folder of a test, with all its files in one commit, unless it is one. */
export async function ensureSandboxRepository(folder: string, options: GitOptions): Promise<void> {
  if (existsSync(join(folder, '.git'))) return;
  const git = createGit(folder, options);
  if (!(await git('init', '--quiet', '--initial-branch=main')).ok) return;
  await appendFile(join(folder, '.git/info/exclude'), '.raymond\n');
  // For the commits of the workflow, too: the machine may know nobody.
  await git('config', 'user.name', 'raymond test');
  await git('config', 'user.email', 'raymond-test@localhost');
  await git('add', '--all');
  await git('commit', '--quiet', '--allow-empty', '--no-verify', '-m', 'The files of the test');
}
