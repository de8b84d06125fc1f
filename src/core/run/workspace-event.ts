import type { WorkspaceContent, WorkspacePlace, WorkspaceSource } from './workspace.ts';

interface TimedEvent {
  readonly at: number;
}

/** The clone in which the agents of a run work is being made, or looked for again; nothing else starts meanwhile. */
interface WorkspaceOpening extends TimedEvent, WorkspaceSource {
  readonly kind: 'workspace_opening';
}

/** The clone of a run is there: agents that were in the folder `from`, or below it, are in the clone now. */
interface WorkspaceOpened extends TimedEvent, WorkspacePlace {
  readonly kind: 'workspace_opened';
  readonly from: string | null;
}

/** The run has come to rest, and its clone is looked at: the event of the run's end comes afterwards. */
interface WorkspaceLeaving extends TimedEvent {
  readonly kind: 'workspace_leaving';
  readonly path: string;
  readonly branch: string;
}

/** The content of a finished run's clone, whether it was pushed, and whether the clone was removed. */
export interface WorkspaceLeftEvent extends TimedEvent, Omit<WorkspaceContent, 'discarded'> {
  readonly kind: 'workspace_left';
  readonly path: string;
  readonly branch: string;
  readonly remote: string;
}

/** The events about the clone of a run. */
export type WorkspaceEvent = WorkspaceOpening | WorkspaceOpened | WorkspaceLeaving | WorkspaceLeftEvent;
