import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { WorkspacePlace } from '../core/run/workspace.ts';
import type { WorktreeContent, WorktreePlace } from '../core/run/worktree.ts';
import { errorMessageOf } from '../errors.ts';
import { readPathFile, realPathOf } from '../git-repository.ts';
import { findRepository, refuseWorktree } from './find-repository.ts';
import { createGit, type Git, type GitOptions } from './git.ts';
import { isDirty } from './git-status.ts';
import { findWorkInTheWay, isEmptyFolder, type LeftPlace } from './held-work.ts';
import { findRegistered, type RegisteredWorktree } from './registered-worktrees.ts';
import { pushBranch } from './remote.ts';
import { isHalfRemoved, makeFolderAbove, removeAtOnce } from './tree-folder.ts';

/** The branch of the worktree of a worker. */
export const branchOf = (run: string, agent: string): string => `raymond/${run}/${agent}`;

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
  const found = await findRepository(cwd, options);
  if ('message' in found) return found;
  const { prefix, base, repository } = found;
  const isInClone = workspace !== undefined && realPathOf(workspace.repository) === repository;
  // Work in the clone of the run belongs to the repository that it was cloned from.
  const place = { path, branch, base, repository, ...(isInClone && { remote: workspace.remote }) };
  const obstacle = await addWorktree(createGit(cwd, options), place, options);
  return obstacle === null ? { place, cwd: join(path, prefix) } : refuseWorktree(obstacle);
}

/** Opens the worktree again that a worker has left, as it is; if it was removed since, it is made again. */
export async function reopenWorktree(place: WorktreePlace, options: GitOptions): Promise<MadeWorktree> {
  const { path, branch, repository, remote } = place;
  const git = createGit(repository, { ...options, repository });
  const registered = await findRegistered(git, path);
  if (registered !== undefined && existsSync(path)) return { place, cwd: path };
  if (existsSync(path) && !(await isEmptyFolder(path))) return refuseWorktree(describeFolderInTheWay(path));
  await removeWorktree(git, path);
  if (remote !== undefined) {
    const fetch = ['fetch', '--quiet', '--', remote, `refs/heads/${branch}:refs/heads/${branch}`];
    await git(...fetch);
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
  const problem = await gitWorktreeAdd(git, place, [path, branch]);
  if (problem !== null) return refuseWorktree(problem);
  return { place, cwd: path, warning: `the worktree ${path} was gone: it is made again from its branch` };
}

/** Removes what is half made of a worktree in which nobody has worked, and its branch. */
export async function discardWorktree({ path, branch, cwd }: WantedWorktree, options: GitOptions): Promise<void> {
  const found = await findRepository(cwd, options);
  if ('message' in found) return;
  const { repository } = found;
  const git = createGit(repository, { ...options, repository });
  const registered = await findRegistered(git, path);
  if (registered?.branch === branch) await removeUnreported(git, registered, { path, branch }, options);
  await git('branch', '--quiet', '-d', branch);
}

/** The content of a worktree, and warnings about it. */
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
  const git = createGit(repository, { ...options, repository });
  const problem =
    remote === undefined || inspected.content.commits === 0 ? null : await pushBranch(git, remote, branch);
  const { content, warning } = remote === undefined ? inspected : afterPush(inspected, problem);
  if (content.kept) return { content, ...(warning !== undefined && { warning }) };
  const obstacle = await removeWorktree(git, path);
  if (obstacle !== null)
    return { content: { ...content, kept: true }, warning: `the worktree ${path} could not be removed: ${obstacle}` };
  // A branch that was pushed stays in the clone as well, where others can merge it.
  if (content.commits === 0) await deleteBranch(git, branch);
  return { content };
}

/** The remains of a worktree in the clone of a run after its branch was pushed, or could not be. */
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
    await makeFolderAbove(path);
    return gitWorktreeAdd(git, place, ['-b', branch, path, base]);
  };
  try {
    if ((await add()) === null) return null;
    return (await clearTheWay(git, place, options)) ?? (await add());
  } catch (error) {
    return errorMessageOf(error);
  }
}

/**
 * Lets git make a worktree; returns why it could not. Git notes the folder that it was told of as the repository, which is gone afterwards: the
 * worktree stays locked until it names the real one, so that one that a crash left before that counts as half made.
 */
export async function gitWorktreeAdd(
  git: Git,
  { path, repository }: WorktreePlace,
  args: readonly string[],
): Promise<string | null> {
  const { ok, error } = await git('worktree', 'add', '--quiet', '--lock', ...args);
  if (!ok) return error;
  const noted = readPathFile(join(path, '.git'), path, 'gitdir: ');
  if (noted === null) return `git made no worktree of ${path}`;
  const gitDir = join(repository, 'worktrees', basename(noted));
  await writeFile(join(path, '.git'), `gitdir: ${gitDir}\n`);
  await rm(join(gitDir, 'locked'), { force: true });
  return null;
}

const describeFolderInTheWay = (path: string): string =>
  `there is a folder ${path} already, which is no worktree: move it away`;

/** Removes what a crash has left of a worktree under the names of a new one; returns what must not be removed. */
async function clearTheWay(git: Git, place: WorktreePlace, options: GitOptions): Promise<string | null> {
  const { path, branch, repository } = place;
  const registered = await findRegistered(git, path);
  if (registered !== undefined && registered.branch !== branch && registered.branch !== null)
    return `${path} is a worktree of the branch ${registered.branch}: remove it with \`git worktree remove\``;
  if (registered === undefined && existsSync(path)) return describeFolderInTheWay(path);
  const obstacle = registered === undefined ? null : await removeUnreported(git, registered, place, options);
  if (obstacle !== null) return obstacle;
  const [above = ''] = branch.split('/');
  if ((await git('rev-parse', '--verify', '--quiet', `refs/heads/${above}`)).ok)
    return `there is a branch ${above}, and git can have no ${branch} beside it: rename it`;
  // The process that locked this name has been ended.
  await rm(join(repository, 'refs/heads', `${branch}.lock`), { force: true });
  const tip = await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  if (!tip.ok) return null;
  const removed = await git('branch', '--quiet', '-d', branch);
  return removed.ok ? null : `there is a branch ${branch} already, with commits of its own: rename or remove it`;
}

/** Removes a worktree that was never reported, unless there is work in it; returns why it stays. */
const removeUnreported = async (
  git: Git,
  { isHalfMade }: RegisteredWorktree,
  place: LeftPlace,
  options: GitOptions,
): Promise<string | null> =>
  (isHalfMade ? null : await findWorkInTheWay(place, options)) ?? removeWorktree(git, place.path);

/** Removes a worktree with all that is in it; returns why that was not possible. */
export async function removeWorktree(git: Git, path: string): Promise<string | null> {
  let problem: string | null = null;
  try {
    await removeAtOnce(path, async () => {
      // Git asks no questions about a folder that is gone.
      const { ok, error } = await git('worktree', 'remove', '--force', '--force', path);
      if (!ok && !error.includes('is not a working tree')) problem = error;
    });
    return problem;
  } catch (error) {
    return errorMessageOf(error);
  }
}

/** The new work in a worktree: it is kept if there is any, or if that is unknown. */
async function inspectWorktree(place: WorktreePlace, options: GitOptions): Promise<InspectedWorktree> {
  const { path, branch, base, repository } = place;
  if (!existsSync(path)) {
    const revisions = `${base}..refs/heads/${branch}`;
    const count = await createGit(repository, { ...options, repository })('rev-list', '--count', revisions, '--');
    const commits = count.ok ? Number(count.out) : 0;
    // Its removal was under way, and is finished.
    const content = { kept: commits > 0 && !isHalfRemoved(path), commits, dirty: false };
    return content.kept
      ? { content, warning: `the worktree ${path} is gone; its branch ${branch} is kept` }
      : { content };
  }
  const own = { ...options, repository };
  const [dirty, count] = await Promise.all([
    isDirty(path, own),
    createGit(path, own)('rev-list', '--count', `${base}..refs/heads/${branch}`, 'HEAD', '--not', base, '--'),
  ]);
  if (typeof dirty !== 'boolean' || !count.ok) {
    const error = typeof dirty === 'boolean' ? count.error : dirty.problem;
    const warning = `the worktree ${path} is kept: what it holds is not known (${error})`;
    return { content: { kept: true, commits: 0, dirty: false }, warning };
  }
  const commits = Number(count.out);
  return { content: { kept: commits > 0 || dirty, commits, dirty } };
}
