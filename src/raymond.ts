/** Where the rooms are put together. Running a workflow will be assembled here. */
export { openWorkflow, type Workflow } from './workflow/load.ts';
