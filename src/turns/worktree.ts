import { existsSync } from 'node:fs';
import { mkdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WorkspacePlace } from '../core/workspace.ts';
import type { WorktreeContent, WorktreePlace } from '../core/worktree.ts';
import { withCloneGit } from './clone-git.ts';
import { findRepository, refuseWorktree } from './find-repository.ts';
import { createGit, type Git, type GitOptions } from './git.ts';
import { findWorkInTheWay, isEmptyFolder, type LeftPlace } from './held-work.ts';
import { pushBranch } from './remote.ts';
import { PARTIAL_SUFFIX, REMOVED_SUFFIX } from './workspace.ts';

/** The branch of the worktree of a worker. */
export const branchOf = (run: string, agent: string): string => `raymond/${run}/${agent}`;

/** Whether a folder with this name among the worktrees of a run is one, and not one that is half made or half removed. */
export const isWorktreeFolder = (name: string): boolean =>
  !name.endsWith(REMOVED_SUFFIX) && !name.endsWith(PARTIAL_SUFFIX);

/** A worktree to be made: its names, and the folder whose commit it gets. */
export interface WantedWorktree extends Pick<WorktreePlace, 'path' | 'branch'> {
  readonly cwd: string;
  /** The clone that the run works in; absent if it has none. */
  readonly workspace?: WorkspacePlace | undefined;
}

/** A worktree that is there, and the folder of it that stands for the one that it was made from; or why there is none. */
export type MadeWorktree =
  | { readonly place: WorktreePlace; readonly cwd: string; readonly warning?: string }
  | { readonly message: string };

/**
 * Makes a worktree from the commit of a folder. One that a crash left half made, or made and not reported, is made again. One with work in
 * it is that of an earlier run of the same id, and stays.
 */
export async function makeWorktree(
  { path, branch, cwd, workspace }: WantedWorktree,
  options: GitOptions,
): Promise<MadeWorktree> {
  const found = await findRepository(createGit(cwd, options), cwd);
  if ('message' in found) return found;
  const { prefix, base, repository } = found;
  const isClone = workspace?.repository === repository;
  // What is in the clone of the run is for the repository that it was cloned from.
  const place = { path, branch, base, repository, ...(isClone && { remote: workspace.remote }) };
  const obstacle = await addWorktree(createGit(cwd, { ...options, isClone }), place, options);
  return obstacle === null ? { place, cwd: join(path, prefix) } : refuseWorktree(obstacle);
}

/** Opens the worktree again that a worker has left, as it is; if it was removed since, it is made again. */
export async function reopenWorktree(place: WorktreePlace, options: GitOptions): Promise<MadeWorktree> {
  const { path, branch, repository, remote } = place;
  const git = createGit(repository, { ...options, isClone: remote !== undefined });
  const registered = await findWorktree(git, path);
  if (registered !== undefined && existsSync(path)) return { place, cwd: path };
  if (existsSync(path) && !(await isEmptyFolder(path))) return refuseWorktree(describeFolderInTheWay(path));
  await removeWorktree(git, path);
  if (remote !== undefined) {
    const fetch = ['fetch', '--quiet', '--', remote, `refs/heads/${branch}:refs/heads/${branch}`];
    await inRepository(place, options, (cloneGit) => cloneGit(...fetch));
  }
  if (!(await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)).ok) {
    const obstacle = await addWorktree(git, place, options);
    if (obstacle !== null) return refuseWorktree(obstacle);
    return {
      place,
      cwd: path,
      warning: `the worktree ${path} and its branch were gone: it is made again without them`,
    };
  }
  const added = await git('worktree', 'add', '--quiet', path, branch);
  if (!added.ok) return refuseWorktree(added.error);
  return { place, cwd: path, warning: `the worktree ${path} was gone: it is made again from its branch` };
}

/** Removes what is half made of a worktree in which nobody has worked, and its branch. */
export async function discardWorktree(
  { path, branch, cwd, workspace }: WantedWorktree,
  options: GitOptions,
): Promise<void> {
  const found = await findRepository(createGit(cwd, options), cwd);
  if ('message' in found) return;
  const git = createGit(found.repository, { ...options, isClone: workspace?.repository === found.repository });
  const registered = await findWorktree(git, path);
  if (registered?.branch === branch) await removeUnreported(git, registered, { path, branch }, options);
  await git('branch', '--quiet', '-d', branch);
}

/** What a worktree holds, and what is odd about it. */
interface InspectedWorktree {
  readonly content: WorktreeContent;
  readonly warning?: string;
}

/**
 * Removes a worktree that holds nothing new, with its branch; any other is kept. If git fails, nothing is removed. In the clone of a run,
 * what is committed is pushed; then only what is not committed keeps the worktree.
 */
export async function closeWorktree(place: WorktreePlace, options: GitOptions): Promise<InspectedWorktree> {
  const { path, branch, repository, remote } = place;
  const inspected = await inspectWorktree(place, options);
  const git = createGit(repository, { ...options, isClone: remote !== undefined });
  const problem =
    remote === undefined || inspected.content.commits === 0
      ? null
      : await inRepository(place, options, (cloneGit) => pushBranch(cloneGit, remote, branch));
  const { content, warning } = remote === undefined ? inspected : afterPush(inspected, problem);
  if (content.kept) return { content, ...(warning !== undefined && { warning }) };
  const obstacle = await removeWorktree(git, path);
  if (obstacle !== null)
    return { content: { ...content, kept: true }, warning: `the worktree ${path} could not be removed: ${obstacle}` };
  // A branch that was pushed stays in the clone as well, where others can merge it.
  if (content.commits === 0) await deleteBranch(git, branch);
  return { content };
}

/** What is left of a worktree in the clone of a run after its branch was pushed, or could not be. */
function afterPush({ content, warning }: InspectedWorktree, problem: string | null): InspectedWorktree {
  if (problem !== null)
    return {
      content: { ...content, pushed: false },
      warning: `what was committed stays in the clone of the run: ${problem}`,
    };
  if (warning !== undefined) return { content: { ...content, pushed: content.commits > 0 }, warning };
  return { content: { ...content, kept: content.dirty, pushed: true } };
}

/** Deletes a branch that no worktree is on. Unlike `git branch -D`, this does not look at every worktree of the repository. */
export const deleteBranch = (git: Git, branch: string) => git('update-ref', '-d', `refs/heads/${branch}`);

/** Makes a worktree; returns what stands in the way. Only if git fails is there more to find out. */
async function addWorktree(git: Git, place: WorktreePlace, options: GitOptions): Promise<string | null> {
  const { path, branch, base } = place;
  const add = async (): Promise<string | null> => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const { ok, error } = await git('worktree', 'add', '--quiet', '-b', branch, path, base);
    return ok ? null : error;
  };
  try {
    if ((await add()) === null) return null;
    return (await clearTheWay(git, place, options)) ?? (await add());
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const describeFolderInTheWay = (path: string): string =>
  `there is a folder ${path} already, which is no worktree: move it away`;

/** Removes what a crash has left of a worktree under the names of a new one; returns what must not be removed. */
async function clearTheWay(git: Git, place: WorktreePlace, options: GitOptions): Promise<string | null> {
  const { path, branch, repository } = place;
  const registered = await findWorktree(git, path);
  if (registered !== undefined && registered.branch !== branch && registered.branch !== null)
    return `${path} is a worktree of the branch ${registered.branch}: remove it with \`git worktree remove\``;
  if (registered === undefined && existsSync(path)) return describeFolderInTheWay(path);
  const obstacle = registered === undefined ? null : await removeUnreported(git, registered, place, options);
  if (obstacle !== null) return obstacle;
  const [above = ''] = branch.split('/');
  if ((await git('rev-parse', '--verify', '--quiet', `refs/heads/${above}`)).ok)
    return `there is a branch ${above}, and git can have no ${branch} beside it: rename it`;
  // Whoever locked this name has been ended.
  await rm(join(repository, 'refs/heads', `${branch}.lock`), { force: true });
  const tip = await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  if (!tip.ok) return null;
  const removed = await git('branch', '--quiet', '-d', branch);
  return removed.ok ? null : `there is a branch ${branch} already, with commits of its own: rename or remove it`;
}

interface RegisteredWorktree {
  /** Null if it is on none. */
  readonly branch: string | null;
  /** Whether git was ended while it made it. */
  readonly isHalfMade: boolean;
}

/** Removes a worktree that was never reported, unless there is work in it; returns why it stays. */
const removeUnreported = async (
  git: Git,
  { isHalfMade }: RegisteredWorktree,
  place: LeftPlace,
  options: GitOptions,
): Promise<string | null> =>
  (isHalfMade ? null : await findWorkInTheWay(place, options)) ?? removeWorktree(git, place.path);

/** Finds a registered worktree by its path. */
async function findWorktree(git: Git, path: string): Promise<RegisteredWorktree | undefined> {
  const { out } = await git('worktree', 'list', '--porcelain');
  const real = await realpath(path).catch(() => path);
  const blocks = out.split('\n\n').map((block) => block.split('\n'));
  const found = blocks.find(([first]) => first === `worktree ${path}` || first === `worktree ${real}`);
  const prefix = 'branch refs/heads/';
  return (
    found && {
      branch: found.find((line) => line.startsWith(prefix))?.slice(prefix.length) ?? null,
      isHalfMade: found.includes('locked initializing'),
    }
  );
}

/**
 * Removes a worktree with all that is in it; returns why that was not possible. It goes as a whole, so that what is left of
 * it after a crash does not look like somebody's changes; and git asks no questions about a folder that is gone.
 */
export async function removeWorktree(git: Git, path: string): Promise<string | null> {
  const moved = `${path}${REMOVED_SUFFIX}`;
  try {
    await rm(moved, { recursive: true, force: true });
    if (existsSync(path)) await rename(path, moved);
    const { ok, error } = await git('worktree', 'remove', '--force', '--force', path);
    await rm(moved, { recursive: true, force: true });
    return ok || error.includes('is not a working tree') ? null : error;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Lets git do something in the repository of a worktree. */
const inRepository = <Result>(
  { repository, remote }: WorktreePlace,
  options: GitOptions,
  use: (git: Git) => Promise<Result>,
): Promise<Result> =>
  remote === undefined
    ? use(createGit(repository, options))
    : withCloneGit({ path: dirname(repository), repository }, options, use);

/** What a worktree holds that its repository did not have before: it is kept if that is anything, or not known. */
async function inspectWorktree(place: WorktreePlace, options: GitOptions): Promise<InspectedWorktree> {
  const { path, branch, base, remote } = place;
  if (!existsSync(path)) {
    const revisions = `${base}..refs/heads/${branch}`;
    const count = await inRepository(place, options, (git) => git('rev-list', '--count', revisions, '--'));
    const commits = count.ok ? Number(count.out) : 0;
    const content = { kept: commits > 0, commits, dirty: false };
    return commits > 0
      ? { content, warning: `the worktree ${path} is gone; its branch ${branch} is kept` }
      : { content };
  }
  const look = (git: Git) =>
    Promise.all([
      git('status', '--porcelain', '--untracked-files=normal'),
      git('rev-list', '--count', `${base}..refs/heads/${branch}`, 'HEAD', '--not', base, '--'),
    ]);
  const [status, count] = await (remote === undefined
    ? look(createGit(path, options))
    : withCloneGit(place, options, look));
  if (!status.ok || !count.ok) {
    const { error } = status.ok ? count : status;
    const warning = `the worktree ${path} is kept: what it holds is not known (${error})`;
    return { content: { kept: true, commits: 0, dirty: false }, warning };
  }
  const [commits, dirty] = [Number(count.out), status.out !== ''];
  return { content: { kept: commits > 0 || dirty, commits, dirty } };
}
