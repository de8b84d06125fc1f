import type { WorkspaceContent, WorkspacePlace } from '../run/workspace.ts';

/** The clone of the run is there. Not a signal of an agent: all of them work in it. */
export interface WorkspaceMade {
  readonly kind: 'workspace_made';
  readonly at: number;
  readonly place: WorkspacePlace;
  /** A warning about it. */
  readonly warning?: string;
}

/** The clone of the run cannot be made. */
export interface WorkspaceRefused {
  readonly kind: 'workspace_refused';
  readonly at: number;
  readonly message: string;
}

/** The clone of a run that has come to rest was looked at: its branch was pushed, unless there is a problem. */
export interface WorkspaceLeft {
  readonly kind: 'workspace_left';
  readonly at: number;
  readonly content: WorkspaceContent;
  /** Why its commits could not be pushed; absent if they are. */
  readonly problem?: string;
  readonly warning?: string;
}

/** The signals about the clone of a run. */
export type WorkspaceSignal = WorkspaceMade | WorkspaceRefused | WorkspaceLeft;
