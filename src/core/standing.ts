import type { Run, RunStatus } from './run.ts';

/**
 * How a run stands, seen from outside. A run that says it is running may be `stopping`, may be driven where we cannot
 * look (`elsewhere`), or may have lost its owner (`crashed`).
 */
export type Standing = RunStatus | 'stopping' | 'crashed' | 'elsewhere';

/** What is known of the process that drives a run; `elsewhere` is another machine or container, where we cannot look. */
export type OwnerState = 'alive' | 'gone' | 'elsewhere' | 'unreadable';

/** Who drives a run, or did; `pid` and `host` are null if they cannot be read. */
export interface Driver {
  readonly state: OwnerState;
  readonly pid: number | null;
  readonly host: string | null;
}

/** How a run stands whose owner is in this state. */
export function standingOf({ status, stop }: Pick<Run, 'status' | 'stop'>, owner: OwnerState | null): Standing {
  if (status !== 'running') return status;
  if (owner === null || owner === 'gone') return 'crashed';
  if (owner !== 'alive') return 'elsewhere';
  return stop === null ? 'running' : 'stopping';
}

const FINISHED: ReadonlySet<Standing> = new Set<Standing>(['completed', 'failed']);

/** Whether there are agents in such a run that would go on. */
export const isFinished = (standing: Standing): boolean => FINISHED.has(standing);

const LIVE: ReadonlySet<Standing> = new Set<Standing>(['running', 'stopping', 'elsewhere']);

/** Whether somebody drives such a run, as far as we can see. */
export const isLive = (standing: Standing): boolean => LIVE.has(standing);
