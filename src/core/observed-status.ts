import type { Run, RunStatus } from './run.ts';

/**
 * How a run stands, seen from outside. A run that says it is running may be `stopping`, may be driven where we cannot
 * look (`elsewhere`), or may have lost its owner (`crashed`).
 */
export type ObservedStatus = RunStatus | 'stopping' | 'crashed' | 'elsewhere';

/** What is known of the process that drives a run; `elsewhere` is another machine or container, where we cannot look. */
export type OwnerState = 'alive' | 'gone' | 'elsewhere' | 'unreadable';

/** Who drives a run, or did; `pid` and `host` are null if they cannot be read. */
export interface OwnerInfo {
  readonly state: OwnerState;
  readonly pid: number | null;
  readonly host: string | null;
}

/** How a run stands whose owner is in this state. */
export function deriveObservedStatus(
  { status, stop }: Pick<Run, 'status' | 'stop'>,
  owner: OwnerState | null,
): ObservedStatus {
  if (status !== 'running') return status;
  if (owner === null || owner === 'gone') return 'crashed';
  if (owner !== 'alive') return 'elsewhere';
  return stop === null ? 'running' : 'stopping';
}

const FINISHED: ReadonlySet<ObservedStatus> = new Set<ObservedStatus>(['completed', 'failed']);

/** Whether there are agents in such a run that would go on. */
export const isFinished = (status: ObservedStatus): boolean => FINISHED.has(status);

const LIVE: ReadonlySet<ObservedStatus> = new Set<ObservedStatus>(['running', 'stopping', 'elsewhere']);

/** Whether somebody drives such a run, as far as we can see. */
export const isLive = (status: ObservedStatus): boolean => LIVE.has(status);
