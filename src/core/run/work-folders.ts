/** The folders in which the agents of a run can work, as absolute paths. */
export interface WorkFolders {
  /** The folder that all agents share. */
  readonly run: string;
  /** The folder of a task, with `{{agent_id}}` in place of the task's name. */
  readonly task: string;
  /** The folder of the run's git worktrees; absent if that is in `.raymond`, as for runs of older versions. */
  readonly worktrees?: string;
}

/** An agent, and the task that it works on. */
interface TaskOwner {
  readonly id: string;
  readonly task: string | null;
}

/** The folders of an agent; null as long as the run of an older state file has none. */
export interface AgentFolders {
  readonly taskFolder: string | null;
  readonly runFolder: string | null;
}

/** The pattern of task folders if the user chose no other. */
export const DEFAULT_TASK_FOLDER_PATTERN = '.raymond/tasks/{{workflow_id}}/{{agent_id}}';

const RUN_PLACE = /\{\{\s*workflow_id\s*\}\}/g;
const TASK_PLACE = /\{\{\s*agent_id\s*\}\}/g;

/** The patterns by which each task of each run gets a folder of its own, as a regular expression for editors. */
export const TASK_FOLDER_PATTERNS = `^(?=[\\s\\S]*${RUN_PLACE.source})(?=[\\s\\S]*${TASK_PLACE.source})`;

/** True if each task of each run gets a folder of its own by this pattern. */
export const isTaskFolderPattern = (pattern: string): boolean => new RegExp(TASK_FOLDER_PATTERNS).test(pattern);

/** A pattern of task folders with the id of the run filled in. */
export const fillInRun = (pattern: string, runId: string): string => pattern.replace(RUN_PLACE, () => runId);

/** The folders that an agent has now. */
export function workFoldersOf(
  { workFolders }: { readonly workFolders: WorkFolders | null },
  agent: TaskOwner,
): AgentFolders {
  if (workFolders === null) return { taskFolder: null, runFolder: null };
  const name = taskNameOf(agent);
  return { taskFolder: workFolders.task.replace(TASK_PLACE, () => name), runFolder: workFolders.run };
}

/** The name of an agent's task: its own id for its first one. */
export const taskNameOf = ({ id, task }: TaskOwner): string => task ?? id;

/** The name of the task that an agent starts after its latest turn. No agent has this name: ids have no dots. */
export const newTaskName = ({ id, turns }: { readonly id: string; readonly turns: number }): string => `${id}.${turns}`;
