import type { Activity } from '../core/activity.ts';
import type { TurnRef } from '../core/due.ts';
import type { State } from '../core/state.ts';
import type { Scope } from '../core/state-names.ts';

/** What turns need of the workflow and of the disk, so that they know neither. */
export interface TurnContext {
  readonly runId: string;
  /** What all processes of the run are known by; no other run has it. */
  readonly runMarker: string;
  /** Told what agents are doing; undefined when nobody looks, and then nothing is to be spent on it. */
  readonly onActivity: ((activity: Activity) => void) | undefined;
  /** A state as its file says it now; throws a RaymondError if it cannot be used. */
  readState(file: string): Promise<State>;
  readScope(): Promise<Scope>;
  /** Where a script lies, or null if it is inside a zip. */
  scriptPath(file: string): string | null;
  folderOf(turn: TurnRef): string;
  /** Makes a turn's folder anew, with these files in it. */
  makeFolder(turn: TurnRef, files: Readonly<Record<string, string | Uint8Array>>): Promise<string>;
}

/** What every process of a turn carries in its environment, so that none is ever lost sight of. */
export const turnMarker = (context: TurnContext, turn: TurnRef): string =>
  `${context.runMarker}/${turn.agent}/${turn.number}`;
