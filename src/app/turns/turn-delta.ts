import type { TurnRef } from '../../core/turns/due.ts';
import type { LogEntry } from '../../render/turn-renderer.ts';

/** The activity of a running turn since the last delta. */
export interface TurnDelta extends TurnRef {
  /** How many entries of the turn came before. */
  readonly first: number;
  readonly entries: readonly LogEntry[];
}

/** The most that a late reader gets of a turn, and that one delta has. The page of the turn has more. */
export const MAX_DELTA_ENTRIES = 50;

/** True if a delta has an entry: prompts and gaps are for whoever looks at one turn. */
export const isShownLive = ({ kind }: LogEntry): boolean => kind !== 'asked' && kind !== 'left_out';
