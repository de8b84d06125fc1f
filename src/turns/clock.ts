import { sleepUntil } from './sleep.ts';

/** How time passes for a run. */
export interface RunClock {
  now(): number;
  /** Sleeps until a time of day; false if it was woken. */
  sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean>;
}

/** The time of day. */
export const SYSTEM_CLOCK: RunClock = { now: () => Date.now(), sleepUntil };
