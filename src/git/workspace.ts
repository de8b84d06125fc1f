import { existsSync } from 'node:fs';
import { rename, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WorkspacePlace, WorkspaceSource } from '../core/run/workspace.ts';
import { errorMessageOf } from '../errors.ts';
import { createGit, createLooseGit, type Git, type GitOptions } from './git.ts';
import { findWorkInTheWay } from './held-work.ts';
import { explainRemoteError, NO_STALLS, REMOTE_NAME, REMOTE_URL } from './remote.ts';
import { makeFolderAbove, PARTIAL_SUFFIX, removeAtOnce, removeTree } from './tree-folder.ts';

/** A clone to be made: its names, and the repository. With its place if it was there before. */
export interface WantedWorkspace extends Pick<WorkspacePlace, 'path' | 'branch'> {
  readonly source: WorkspaceSource;
  readonly place: WorkspacePlace | null;
  /** True if it is that of one agent on another machine than that of its run: nobody looks at it after the agent's end. */
  readonly isOfAgent?: boolean;
}

/** A clone that is there, or why there is none. */
export type MadeWorkspace =
  | { readonly place: WorkspacePlace; readonly warning?: string }
  | { readonly message: string };

/**
 * Makes the clone of a run, or finds the one that was there before. It gets its name when it is whole. One that has the name and was never
 * reported is made again, unless there is work in it: then it is that of an earlier run of the same id.
 */
export async function openWorkspace(wanted: WantedWorkspace, options: GitOptions): Promise<MadeWorkspace> {
  const { path, source, place } = wanted;
  const remote = source.git;
  if (place !== null && place.path === path && existsSync(path)) {
    // For the agents: Raymond itself names the address.
    if (place.remote !== remote)
      await createLooseGit(options)('config', '--file', join(path, '.git/config'), REMOTE_URL, remote);
    return { place: { ...place, remote } };
  }
  const partial = `${path}${PARTIAL_SUFFIX}`;
  try {
    const inTheWay = await findWorkInTheWay(wanted, options);
    if (inTheWay !== null) return { message: inTheWay };
    for (const folder of [partial, path]) await removeTree(folder);
    await makeFolderAbove(path);
    const cloned = await cloneInto(partial, wanted, options);
    if ('message' in cloned) {
      await removeTree(partial);
      await removeIfEmpty(dirname(path));
      return cloned;
    }
    await rename(partial, path);
    const made = { path, branch: wanted.branch, repository: join(path, '.git'), remote, ...cloned };
    return place === null ? { place: made } : { place: made, warning: describeRemade(place, made) };
  } catch (error) {
    return { message: errorMessageOf(error) };
  }
}

const describeRemade = (before: WorkspacePlace, { path }: WorkspacePlace): string =>
  before.path === path
    ? `the clone ${path} was gone: it is made again from what was pushed`
    : `the clone ${before.path} is not on this machine: it is made again in ${path} from what was pushed`;

/** Clones a repository into a folder and checks out a branch of its own; returns the commit that the branch begins at. */
async function cloneInto(
  folder: string,
  { branch, source, place }: WantedWorkspace,
  options: GitOptions,
): Promise<{ readonly base: string } | { readonly message: string }> {
  const clone = ['clone', '--quiet', '--no-checkout', '--origin', REMOTE_NAME, '--', source.git, folder];
  const cloned = await createLooseGit(options)(...NO_STALLS, ...clone);
  if (!cloned.ok) return { message: explainRemoteError(cloned.error, source.git) };
  const git = createGit(folder, { ...options, repository: join(folder, '.git') });
  const pushed = await findCommit(git, `refs/remotes/${REMOTE_NAME}/${branch}`);
  if (place === null) {
    const obstacle = pushed === null ? await findObstacle(git, branch) : branch;
    if (obstacle !== null)
      return {
        message: `${source.git} has a branch ${obstacle} already: choose another --run-id, or rename that branch`,
      };
  }
  const base = place?.base ?? (await findStart(git, source));
  if (base === null) return { message: await explainNoStart(git, source) };
  const checkedOut = await git('checkout', '--quiet', '--no-track', '-b', branch, pushed ?? base);
  return checkedOut.ok ? { base } : { message: checkedOut.error };
}

/** Git can have no branch beside one whose name is the beginning of its own. */
async function findObstacle(git: Git, branch: string): Promise<string | null> {
  for (let above = dirname(branch); above !== '.'; above = dirname(above))
    if ((await findCommit(git, `refs/remotes/${REMOTE_NAME}/${above}`)) !== null) return above;
  return null;
}

async function findCommit(git: Git, name: string): Promise<string | null> {
  const { ok, out } = await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`);
  return ok ? out : null;
}

/** The commit that a run begins at: of a branch, of a tag, by its hash, or of any other name that the repository knows. */
async function findStart(git: Git, { git: address, ref }: WorkspaceSource): Promise<string | null> {
  if (ref === null) return findCommit(git, `refs/remotes/${REMOTE_NAME}/HEAD`);
  const named = [
    `refs/remotes/${REMOTE_NAME}/${ref}`,
    `refs/tags/${ref}`,
    ...(/^[0-9a-f]{7,64}$/.test(ref) ? [ref] : []),
  ];
  for (const name of named) {
    const commit = await findCommit(git, name);
    if (commit !== null) return commit;
  }
  // Kept under a name of the remote: who looks at the clone later sees that nobody here has made these commits.
  const kept = `refs/remotes/${REMOTE_NAME}/${ref}`;
  const fetched = await git(...NO_STALLS, 'fetch', '--quiet', '--', address, `+${ref}:${kept}`);
  return fetched.ok ? findCommit(git, kept) : null;
}

async function explainNoStart(git: Git, { git: address, ref }: WorkspaceSource): Promise<string> {
  if (ref !== null) return `${address} has no branch, tag or commit ${ref}`;
  const { out } = await git('for-each-ref', '--count=1', `refs/remotes/${REMOTE_NAME}`);
  return out === ''
    ? `${address} has no commit yet: make one first`
    : `${address} has no default branch: name one, as ${address}#BRANCH`;
}

const removeIfEmpty = (folder: string): Promise<void> => rmdir(folder).catch(() => {});

/** Removes a clone as a whole; returns why that was not possible. */
export async function removeClone(path: string): Promise<string | null> {
  try {
    await removeAtOnce(path);
    await removeIfEmpty(dirname(path));
    return null;
  } catch (error) {
    return errorMessageOf(error);
  }
}
