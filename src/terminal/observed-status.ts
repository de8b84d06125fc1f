import type { ObservedStatus } from '../core/observed-status.ts';
import type { TextStyle } from '../events/text-style.ts';

/** The status of a run in words. */
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

/** The style of a status. */
export const getStatusStyle = (status: ObservedStatus): TextStyle => STATUS_STYLES[status];
