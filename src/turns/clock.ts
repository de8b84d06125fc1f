import { sleepUntil } from './sleep.ts';

/** How time passes for a run. */
export interface Clock {
  now(): number;
  /** Sleeps until a time of day; false if it was woken. */
  sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean>;
}

/** The time of day. */
export const REAL_TIME: Clock = { now: () => Date.now(), sleepUntil };
