import { dirname, join } from 'node:path';
import type { Run } from '../core/run.ts';
import type { StoreLayout } from '../store/layout.ts';
import type { TurnContext } from '../turns/turn-context.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { listWorkflowFolders } from './run-workflows.ts';

/** The folders that decide where the answers of a run's prompts may change to. */
export function findFolderLimits(
  { id, startFolder, workspace }: Run,
  { root, worktreesFolder }: StoreLayout,
  workflow: Workflow,
  isSandbox = false,
): Pick<TurnContext, 'startFolder' | 'workflowFolders'> {
  return {
    // Older state files do not tell where the run was started. The clone of a run is not there yet when it starts, and a test has none.
    startFolder: workspace === null || isSandbox ? (startFolder ?? dirname(root)) : join(worktreesFolder(id), 'main'),
    workflowFolders: () => listWorkflowFolders(workflow),
  };
}
