import { findLayout } from '../disk/layout.ts';
import { createFileStorage } from '../storage/files/storage.ts';
import type { RunStorage } from '../storage/storage.ts';
import type { Launcher, RunPlace } from './launcher.ts';
import { isSignedByUser, signAsUser } from './trust/run-seal.ts';
import type { WorktreePool } from './worktrees/worktree-pool.ts';

/** Opens the runs in the files of a folder. */
export const openFileStorage = (folder: string, env: NodeJS.ProcessEnv): RunStorage =>
  createFileStorage(findLayout(folder), {
    sign: (text) => signAsUser(text, env),
    isSigned: (text, signature) => isSignedByUser(text, signature, env),
  });

/** Opens the runs in the files of a folder, with the launcher for them. */
export const openFiles = (folder: string, env: NodeJS.ProcessEnv): RunPlace => ({
  storage: openFileStorage(folder, env),
  launcher: createProcessLauncher(folder, env),
});

/** Creates the launcher of a folder: this process takes the turns of the runs that it starts. */
function createProcessLauncher(folder: string, env: NodeJS.ProcessEnv): Launcher {
  return {
    isLocal: true,
    detachFlag: '--no-database',
    async start(path, { labels: _, warn: __, ...request }) {
      const { rememberProject } = await import('./trust/known-projects.ts');
      await rememberProject(folder, env);
      return (await import('./start.ts')).runWorkflow(path, request);
    },
    resume: async (run, { warn: _, ...request }) => (await import('./resume.ts')).resumeRun(run, request),
    rerun: async (run, { warn: _, ...request }) => (await import('./rerun/rerun.ts')).rerunRun(run, request),
    stop: async (run, request) => (await import('./stop.ts')).stopRun(run, { ...request, cwd: folder }),
    findCrashed: async () => (await import('../storage/files/runs.ts')).findCrashedRunIds(findLayout(folder)),
    worktrees: loadWorktreePool(folder, env),
    snapshots: { repository: findLayout(folder).snapshotsFolder, listOf: findLayout(folder).snapshotList, env },
    listNodes: async () => [],
  };
}

/** The code about git is loaded only if it is needed. */
function loadWorktreePool(folder: string, env: NodeJS.ProcessEnv): WorktreePool {
  const load = async (): Promise<WorktreePool> =>
    (await import('./worktrees/worktree-pool.ts')).createFileWorktreePool(folder, env);
  return {
    find: async () => (await load()).find(),
    findOfRun: async (run) => (await load()).findOfRun(run),
    findRecorded: async (run) => (await load()).findRecorded(run),
    findOfEnded: async (run) => (await load()).findOfEnded(run),
    leave: async (run, worktrees) => (await load()).leave(run, worktrees),
    prune: async (worktrees, observe) => (await load()).prune(worktrees, observe),
    discard: async (worktrees, observe) => (await load()).discard(worktrees, observe),
  };
}
