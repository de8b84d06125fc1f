import { setTimeout as delay } from 'node:timers/promises';

const LONGEST_NAP_MS = 60_000;

/** Sleeps until a time of day, looking at the clock every minute: a laptop that was shut wakes right. False if it was woken. */
export async function sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean> {
  for (;;) {
    const leftMs = untilMs - Date.now();
    if (wake.aborted) return false;
    if (leftMs <= 0) return true;
    await delay(Math.min(leftMs, LONGEST_NAP_MS), undefined, { signal: wake }).catch(() => undefined);
  }
}
