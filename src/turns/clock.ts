import { setTimeout as delay } from 'node:timers/promises';

/** How time passes for a run. */
export interface RunClock {
  now(): number;
  /** Sleeps until a time of day; false if it was woken. */
  sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean>;
}

/** The time of day. */
export const SYSTEM_CLOCK: RunClock = { now: () => Date.now(), sleepUntil };

const MAX_SLEEP_STEP_MS = 60_000;

/** Sleeps until a time of day, looking at the clock every minute: a laptop that was shut wakes right. False if it was woken. */
async function sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean> {
  for (;;) {
    const remainingMs = untilMs - Date.now();
    if (wake.aborted) return false;
    if (remainingMs <= 0) return true;
    await delay(Math.min(remainingMs, MAX_SLEEP_STEP_MS), undefined, { signal: wake }).catch(() => undefined);
  }
}
