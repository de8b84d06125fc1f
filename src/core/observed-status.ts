import type { Run, RunStatus } from './run.ts';

/**
 * The status of a run seen from outside. A run that is marked as running may be `stopping`, may be driven by a process
 * that cannot be checked from here (`elsewhere`), or may have lost its owner (`crashed`).
 */
export type ObservedStatus = RunStatus | 'stopping' | 'crashed' | 'elsewhere';

/** What is known of the process that drives a run; `elsewhere` is on another machine or in another container. */
export type OwnerState = 'alive' | 'gone' | 'elsewhere' | 'unreadable';

/** The process that drives a run, or did; `pid` and `host` are null if they cannot be read. */
export interface OwnerInfo {
  readonly state: OwnerState;
  readonly pid: number | null;
  readonly host: string | null;
}

/** Derives the observed status from the run and the state of its owner. */
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

/** Whether a run with this status has ended for good, unless failed agents are retried. */
export const isFinished = (status: ObservedStatus): boolean => FINISHED.has(status);

const LIVE: ReadonlySet<ObservedStatus> = new Set<ObservedStatus>(['running', 'stopping', 'elsewhere']);

/** Whether a process drives a run with this status, as far as can be seen. */
export const isLive = (status: ObservedStatus): boolean => LIVE.has(status);
