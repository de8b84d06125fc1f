import type { ObservedStatus } from '../core/observed-status.ts';
import type { TextStyle } from '../events/text-style.ts';

/** How a run stands, in a word or two. */
export const formatObservedStatus = (status: ObservedStatus): string => status.replaceAll('_', ' ');

const STATUS_STYLES: Record<ObservedStatus, TextStyle> = {
  running: 'green',
  stopping: 'yellow',
  crashed: 'red',
  elsewhere: 'yellow',
  completed: 'dim',
  failed: 'red',
  waiting: 'yellow',
  paused: 'yellow',
  budget_exceeded: 'yellow',
  iteration_limit: 'yellow',
  interrupted: 'yellow',
};

/** The ink that such words are written in. */
export const getStatusStyle = (status: ObservedStatus): TextStyle => STATUS_STYLES[status];

/** How long ago something was, in the largest unit that fits: `40s`, `12m`, `5h`, `3d`. */
export function formatAge(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
