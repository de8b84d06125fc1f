import { dirname, join } from 'node:path';
import type { Run } from '../core/run/run.ts';
import type { FolderLayout } from '../disk/layout.ts';
import type { TurnContext } from '../turns/turn-context.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { listWorkflowFolders, listWorkflowPlaces } from './run-workflows.ts';
import { worktreesFolderOf } from './worktrees-root.ts';

/** The folders that decide where the agents of a run may work and what they may write to. */
export function findFolderLimits(
  run: Run,
  layout: FolderLayout,
  workflow: Workflow,
  isSandbox = false,
): Pick<TurnContext, 'startFolder' | 'startedAt' | 'workflowFolders' | 'workflowPlaces' | 'ownFiles'> {
  const { id, startFolder, startedAt, workspace } = run;
  return {
    // Older state files do not tell where the run was started. The clone of a run is not there yet when it starts, and a test has none.
    startFolder:
      workspace === null || isSandbox
        ? (startFolder ?? dirname(layout.root))
        : join(worktreesFolderOf(layout, run), 'main'),
    // The time of a test is not that of the disk.
    startedAt: isSandbox ? Number.POSITIVE_INFINITY : startedAt,
    workflowFolders: () => listWorkflowFolders(workflow),
    workflowPlaces: () => listWorkflowPlaces(workflow),
    ownFiles: { root: layout.root, writable: layout.writableFolders(id) },
  };
}
