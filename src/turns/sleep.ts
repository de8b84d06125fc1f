import { setTimeout as delay } from 'node:timers/promises';

const MAX_SLEEP_STEP_MS = 60_000;

/** Sleeps until a time of day, looking at the clock every minute: a laptop that was shut wakes right. False if it was woken. */
export async function sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean> {
  for (;;) {
    const remainingMs = untilMs - Date.now();
    if (wake.aborted) return false;
    if (remainingMs <= 0) return true;
    await delay(Math.min(remainingMs, MAX_SLEEP_STEP_MS), undefined, { signal: wake }).catch(() => undefined);
  }
}
