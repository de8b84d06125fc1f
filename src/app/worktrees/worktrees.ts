import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../../core/run/run.ts';
import { deriveAgentsStatus, isLive } from '../../core/run/status.ts';
import { type FolderLayout, findLayout } from '../../disk/layout.ts';
import { RaymondError } from '../../errors.ts';
import { findWork } from '../../git/held-work.ts';
import { listWork, removeLeftWorktree } from '../../git/left-work.ts';
import { isWorktreeFolder } from '../../git/tree-folder.ts';
import { branchOf } from '../../git/worktree.ts';
import type { FoundWorktree } from '../../render/found-worktree.ts';
import { observeRun } from '../../storage/files/observed-run.ts';
import { findWorktreesFolders, namesIn, removeRemains, type WorktreesFolder } from './worktree-folders.ts';

/** Says which agents of a run work in their worktree, or will. */
export type FindUsers = (run: string) => Promise<(agent: string) => boolean>;

/** Hears of each worktree that is gone, or why it is not. */
export type WorktreeObserver = (worktree: FoundWorktree, problem: string | null) => void;

/** Finds the worktrees of all runs of this folder, or of one run, and what they hold. Runs that were removed count, too. */
export async function findWorktrees(
  cwd: string,
  env: NodeJS.ProcessEnv,
  run?: string,
  findUsers?: FindUsers,
): Promise<readonly FoundWorktree[]> {
  const layout = findLayout(cwd);
  const found: FoundWorktree[] = [];
  for (const folder of await findWorktreesFolders(layout, env, run))
    found.push(...(await findWorktreesOf(folder, env, findUsers ?? ((id) => findUsersInFiles(layout, id)))));
  return found;
}

/** The worktrees with the work in each of them by name. */
export const nameWork = (worktrees: readonly FoundWorktree[], env: NodeJS.ProcessEnv): Promise<FoundWorktree[]> =>
  Promise.all(
    worktrees.map(async (each) => (each.holds === 'work' ? { ...each, work: await listWork(each, { env }) } : each)),
  );

/** Removes worktrees that hold nothing; `observe` hears of each that is gone, or why it is not. */
export async function pruneWorktrees(
  worktrees: readonly FoundWorktree[],
  env: NodeJS.ProcessEnv,
  observe: WorktreeObserver,
): Promise<void> {
  // One after the other: two branches may each have the commits of the other.
  for (const worktree of clonesLast(worktrees.filter(({ holds }) => holds === 'nothing')))
    observe(worktree, await removeLeftWorktree(worktree, { env }));
}

/** Worktrees in an order in which they can be removed: the clone of a run comes after those that are worktrees of it. */
export const clonesLast = (worktrees: readonly FoundWorktree[]): readonly FoundWorktree[] =>
  worktrees.toSorted((a, b) => Number(a.agent === 'main') - Number(b.agent === 'main'));

/** Removes what kills left of worktrees that were being removed or made. Runs that are under way keep theirs. */
export async function removeWorktreeRemains(cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const layout = findLayout(cwd);
  for (const folder of await findWorktreesFolders(layout, env)) {
    const isUnderWay = await observeRun(layout, folder.run).then(
      ({ observedStatus }) => isLive(observedStatus) || observedStatus === 'crashed',
      () => false,
    );
    if (!isUnderWay) await removeRemains([folder]);
  }
}

async function findWorktreesOf(
  { run: id, folder }: WorktreesFolder,
  env: NodeJS.ProcessEnv,
  findUsers: FindUsers,
): Promise<readonly FoundWorktree[]> {
  const agents = (await namesIn(folder)).filter(isWorktreeFolder);
  if (agents.length === 0) return [];
  const isInUse = await findUsers(id);
  const found: FoundWorktree[] = [];
  for (const agent of agents.toSorted()) {
    const place = { path: join(folder, agent), branch: branchOf(id, agent) };
    const worktree = { run: id, agent, ...place, commits: 0, dirty: false, problem: null };
    const work = isInUse(agent) ? null : await findWork(place, { env });
    if (work === null) found.push({ ...worktree, holds: 'in_use' });
    else if ('problem' in work) found.push({ ...worktree, ...work, holds: null });
    else found.push({ ...worktree, ...work, holds: work.commits > 0 || work.dirty ? 'work' : 'nothing' });
  }
  return found;
}

/** Of a run that cannot be read, all agents may work. */
async function findUsersInFiles(layout: FolderLayout, id: string): Promise<(agent: string) => boolean> {
  if (!existsSync(layout.stateFile(id)) && !existsSync(layout.runFolder(id))) return () => false;
  try {
    const { run } = await observeRun(layout, id);
    return (agent) => isWorkingIn(run, agent);
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    return () => true;
  }
}

/** True if an agent works in its worktree, or will. An agent that is missing in the run was archived when it had ended. */
export function isWorkingIn(run: Run, id: string): boolean {
  const { agents, workspace, rerunOf } = run;
  // The worktree of the main agent is the clone of the run, which stays while any agent may continue.
  const isOver = ['completed', 'failed'].includes(deriveAgentsStatus({ ...run, stop: null }));
  if (id === 'main' && workspace !== null) return !(workspace.kind === 'left' && isOver);
  // The folder with the files of then, in which all agents of a rerun work.
  if (id === 'main') return rerunOf !== undefined && !isOver;
  const worktree = agents.find((agent) => agent.id === id)?.worktree;
  return worktree !== undefined && worktree !== null && worktree.kind !== 'closed';
}
