import type { TurnRef } from '../core/due.ts';
import type { LogEntry } from '../events/turn-renderer.ts';

/** What a running turn has said and done since the last delta. */
export interface TurnDelta extends TurnRef {
  /** How many entries of the turn came before. */
  readonly first: number;
  readonly entries: readonly LogEntry[];
}

/** What somebody who comes later gets of a turn, and the most that one delta has. More is for whoever looks at that turn. */
export const MAX_DELTA_ENTRIES = 50;

/** Whether a delta has an entry: prompts and gaps are for whoever looks at one turn. */
export const isShownLive = ({ kind }: LogEntry): boolean => kind !== 'asked' && kind !== 'left_out';
