import { setTimeout as delay } from 'node:timers/promises';

/** The time of a run. Turns and runtime use no other, so that tests can let it pass as they like. */
export interface Clock {
  /** The time of day, in milliseconds since 1970. */
  now(): number;
  /** Sleeps until a time of day; false if `wake` was aborted first. */
  sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean>;
  /** The time on this clock when a file had this modification time. */
  fromFileTime(ms: number): number;
}

const MAX_SLEEP_STEP_MS = 60_000;

/** The clock of this machine. It looks at the time every minute: a laptop that was shut wakes up on time. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  async sleepUntil(untilMs, wake) {
    for (;;) {
      const remainingMs = untilMs - Date.now();
      if (wake.aborted) return false;
      if (remainingMs <= 0) return true;
      await delay(Math.min(remainingMs, MAX_SLEEP_STEP_MS), undefined, { signal: wake }).catch(() => undefined);
    }
  },
  fromFileTime: (ms) => ms,
};
