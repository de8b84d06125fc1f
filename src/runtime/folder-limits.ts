import { dirname } from 'node:path';
import type { Run } from '../core/run.ts';
import type { StoreLayout } from '../store/layout.ts';
import type { TurnContext } from '../turns/turn-context.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { listWorkflowFolders } from './run-workflows.ts';

/** The folders that decide where the answers of a run's prompts may change to. */
export function findFolderLimits(
  { startFolder }: Run,
  { root }: StoreLayout,
  workflow: Workflow,
): Pick<TurnContext, 'startFolder' | 'workflowFolders'> {
  return {
    // Older state files do not tell where the run was started.
    startFolder: startFolder ?? dirname(root),
    workflowFolders: () => listWorkflowFolders(workflow),
  };
}
