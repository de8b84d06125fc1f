import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WorktreeContent, WorktreePlace } from '../core/run/worktree.ts';
import type { PublishedCommit } from '../core/turns/worktree-turns.ts';
import { realPathOf } from '../git-repository.ts';
import { findRepository, refuseWorktree } from './find-repository.ts';
import { createGit, type GitOptions } from './git.ts';
import { isDirty } from './git-status.ts';
import { findWorkInTheWay, type LeftPlace } from './held-work.ts';
import { leaveWorkspace } from './leave-workspace.ts';
import { explainRemoteError, NO_STALLS } from './remote.ts';
import { openWorkspace, removeClone } from './workspace.ts';
import type { MadeWorktree, WantedWorktree } from './worktree.ts';

/*
 * The worktree of an agent that works on another machine than the one with the folder that it is made from: the commit of that folder
 * is pushed as the branch of the agent, and the other machine clones that branch.
 */

/**
 * Pushes the commit of a folder as the branch of a worktree. The place then says where it is, and the folder is that of the
 * repository.
 */
export async function publishCommit(
  { branch, cwd, workspace }: WantedWorktree,
  options: GitOptions,
): Promise<MadeWorktree> {
  const found = await findRepository(cwd, options);
  if ('message' in found) return found;
  const { prefix, base, repository } = found;
  // Anything else is not for the repository that the run works on.
  if (workspace === undefined || realPathOf(workspace.repository) !== repository)
    return { message: `${cwd} is not in the clone of the run` };
  const { remote, path } = workspace;
  const push = [...NO_STALLS, 'push', '--quiet', '--', remote, `${base}:refs/heads/${branch}`];
  const { ok, error } = await createGit(path, { ...options, repository })(...push);
  if (!ok) return { message: explainRemoteError(error, remote) };
  return { place: { path, branch, base, repository, remote }, cwd: prefix };
}

/** Makes the clone of a branch that was pushed for an agent. One that was made and never reported is made again. */
export async function cloneCommit(
  { path, branch }: LeftPlace,
  { base, remote, prefix }: PublishedCommit,
  options: GitOptions,
): Promise<MadeWorktree> {
  const inTheWay = await discardClone({ path, branch }, options);
  if (inTheWay !== null) return refuseWorktree(inTheWay);
  const made = await reopenClone({ path, branch, base, repository: join(path, '.git'), remote }, options);
  return 'message' in made ? made : { place: made.place, cwd: join(path, prefix) };
}

/** True if a worktree is a clone of its own. */
export const isClone = ({ path, repository, remote }: WorktreePlace): boolean =>
  remote !== undefined && repository === join(path, '.git');

/** Opens the clone of an agent again; if it is gone, it is made from what was pushed. */
export async function reopenClone(place: WorktreePlace, options: GitOptions): Promise<MadeWorktree> {
  const made = await openWorkspace(wantedOf(place), options);
  return 'message' in made ? refuseWorktree(made.message) : { ...made, cwd: made.place.path };
}

/** Pushes what an agent has committed in its clone, and removes it if everything in it is pushed. A branch without commits goes, too. */
export async function closeClone(
  place: WorktreePlace,
  options: GitOptions,
): Promise<{ readonly content: WorktreeContent; readonly warning?: string }> {
  if (existsSync(place.path)) await removeUnused(place, { ...options, repository: place.repository });
  const { content, problem, warning = problem } = await leaveWorkspace(wantedOf(place), true, options);
  return { content, ...(warning !== undefined && { warning }) };
}

/** Removes the branch of an agent that has left nothing from the repository to which it was published, unless somebody else has used it. */
async function removeUnused({ path, branch, base, remote = '' }: WorktreePlace, options: GitOptions): Promise<void> {
  const git = createGit(path, options);
  const tip = await git('rev-parse', `refs/heads/${branch}`);
  if (tip.out !== base || (await isDirty(path, options)) !== false) return;
  const lease = `--force-with-lease=refs/heads/${branch}:${base}`;
  await git(...NO_STALLS, 'push', '--quiet', lease, '--', remote, `:refs/heads/${branch}`);
}

/** Removes a clone in which nobody has worked; returns why that is not possible. */
export async function discardClone(place: LeftPlace, options: GitOptions): Promise<string | null> {
  if (!existsSync(place.path)) return null;
  return (await findWorkInTheWay(place, options)) ?? removeClone(place.path);
}

function wantedOf(place: WorktreePlace) {
  const { path, branch, remote = '' } = place;
  return { path, branch, source: { git: remote, ref: null }, place: { ...place, remote }, isOfAgent: true };
}
