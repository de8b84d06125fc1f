import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Run } from '../core/run.ts';
import { RaymondError } from '../errors.ts';
import type { FoundWorktree } from '../events/found-worktree.ts';
import { findLayout, type StoreLayout } from '../store/layout.ts';
import { observeRun } from '../store/observed-run.ts';
import { findWork } from '../turns/held-work.ts';
import { removeLeftWorktree } from '../turns/left-worktree.ts';
import { branchOf, isWorktreeFolder } from '../turns/worktree.ts';

/** Finds the worktrees of all runs of this folder, or of one run, and what they hold. Runs that were removed count, too. */
export async function findWorktrees(
  cwd: string,
  env: NodeJS.ProcessEnv,
  run?: string,
): Promise<readonly FoundWorktree[]> {
  const layout = findLayout(cwd);
  const runs = run === undefined ? await namesIn(layout.worktreesRoot) : [run];
  const found: FoundWorktree[] = [];
  for (const id of runs.toSorted()) found.push(...(await findWorktreesOf(layout, id, env)));
  return found;
}

/** Removes worktrees that hold nothing; `observe` hears of each that is gone, or why it is not. */
export async function pruneWorktrees(
  worktrees: readonly FoundWorktree[],
  env: NodeJS.ProcessEnv,
  observe: (worktree: FoundWorktree, problem: string | null) => void,
): Promise<void> {
  // One after the other: two branches may each have the commits of the other. The clone of a run comes after its worktrees.
  const isClone = ({ agent }: FoundWorktree): number => Number(agent === 'main');
  const empty = worktrees.filter(({ holds }) => holds === 'nothing');
  for (const worktree of empty.toSorted((a, b) => isClone(a) - isClone(b)))
    observe(worktree, await removeLeftWorktree(worktree, { env }));
}

async function findWorktreesOf(
  layout: StoreLayout,
  id: string,
  env: NodeJS.ProcessEnv,
): Promise<readonly FoundWorktree[]> {
  const folder = layout.worktreesFolder(id);
  const agents = (await namesIn(folder)).filter(isWorktreeFolder);
  if (agents.length === 0) return [];
  const isInUse = await findUsers(layout, id);
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

/** Says which agents of a run work in their worktree, or will. Of a run that cannot be read, all may. */
async function findUsers(layout: StoreLayout, id: string): Promise<(agent: string) => boolean> {
  if (!existsSync(layout.stateFile(id)) && !existsSync(layout.runFolder(id))) return () => false;
  try {
    const { run } = await observeRun(layout, id);
    // An agent that is not in the run any more was archived when it had ended.
    return (agent) => isWorkingIn(run, agent);
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    return () => true;
  }
}

function isWorkingIn({ agents, workspace, status }: Run, id: string): boolean {
  // That of the main agent is the clone of the run, which stays as long as the run may go on by itself.
  if (id === 'main')
    return workspace !== null && !(workspace.kind === 'left' && ['completed', 'failed'].includes(status));
  const worktree = agents.find((agent) => agent.id === id)?.worktree;
  return worktree !== undefined && worktree !== null && worktree.kind !== 'closed';
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch((): string[] => []);
