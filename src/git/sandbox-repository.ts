import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspacePlace } from '../core/run/workspace.ts';
import { readGitPlace } from '../git-repository.ts';
import { createGit, createLooseGit, type GitOptions } from './git.ts';
import { REMOTE_NAME, REMOTE_URL } from './remote.ts';

/** Makes a git repository of the folder of a test, with all its files in one commit, unless it is one. */
export async function ensureSandboxRepository(folder: string, options: GitOptions): Promise<void> {
  if (readGitPlace(folder) !== null) return;
  const loose = createLooseGit(options);
  if (!(await loose('init', '--quiet', '--initial-branch=main', '--', folder)).ok) return;
  await appendFile(join(folder, '.git/info/exclude'), '.raymond\n');
  // For the commits of the workflow, too: the machine may know nobody.
  const config = ['config', '--file', join(folder, '.git/config')];
  await loose(...config, 'user.name', 'raymond test');
  await loose(...config, 'user.email', 'raymond-test@localhost');
  const git = createGit(folder, options);
  await git('add', '--all');
  await git('commit', '--quiet', '--allow-empty', '--no-verify', '-m', 'The files of the test');
}

/**
 * Lets the folder of a test stand for the clone of a run: it is on the branch, and it is the repository that the branch is pushed to. Nothing
 * is cloned, and scripts can fetch from the name that a clone has for its repository.
 */
export async function openSandboxWorkspace(
  folder: string,
  branch: string,
  before: WorkspacePlace | null,
  options: GitOptions,
): Promise<{ readonly place: WorkspacePlace } | { readonly message: string }> {
  if (before !== null) return { place: before };
  await ensureSandboxRepository(folder, options);
  const config = ['config', '--file', join(folder, '.git/config')];
  const loose = createLooseGit(options);
  await loose(...config, REMOTE_URL, folder);
  await loose(...config, `remote.${REMOTE_NAME}.fetch`, `+refs/heads/*:refs/remotes/${REMOTE_NAME}/*`);
  const git = createGit(folder, options);
  await git('checkout', '--quiet', '-b', branch);
  const { ok, out, error } = await git('rev-parse', 'HEAD');
  const place = { path: folder, branch, base: out, repository: join(folder, '.git'), remote: folder };
  return ok ? { place } : { message: error };
}
