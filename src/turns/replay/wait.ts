import { setTimeout as delay } from 'node:timers/promises';

/** Waits, but not where there is nothing to wait for. False if it was woken. */
export async function wait(ms: number, wake: AbortSignal): Promise<boolean> {
  if (ms > 0 && !wake.aborted) await delay(ms, undefined, { signal: wake }).catch(() => undefined);
  return !wake.aborted;
}
