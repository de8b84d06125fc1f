import { setTimeout as delay } from 'node:timers/promises';

/** The time of a run. Turns and runtime use no other, so that tests can let it pass as they like. */
export interface Clock {
  /** The time of day, in milliseconds since 1970. */
  now(): number;
  /** Sleeps until a time of day; false if `wake` was aborted first. */
  sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean>;
  /** Sleeps for a time, however the time of day is changed meanwhile; false if `wake` was aborted first. */
  sleepFor(ms: number, wake: AbortSignal): Promise<boolean>;
  /** The time on this clock when a file had this modification time. */
  fromFileTime(ms: number): number;
}

const MAX_SLEEP_STEP_MS = 60_000;

/** A clock that is ahead of this machine's by so much. It looks at the time every minute: a laptop that was shut wakes up on time. */
export const createClock = (aheadMs: () => number): Clock => ({
  now: () => Date.now() + aheadMs(),
  sleepUntil: (untilMs, wake) => sleepWhile(() => untilMs - Date.now() - aheadMs(), wake),
  sleepFor(ms, wake) {
    // `performance.now` stands still while the machine sleeps, and `Date.now` may be set back: the first to reach its time counts.
    const [untilMs, deadlineMs] = [Date.now() + ms, performance.now() + ms];
    return sleepWhile(() => Math.min(untilMs - Date.now(), deadlineMs - performance.now()), wake);
  },
  fromFileTime: (ms) => ms + aheadMs(),
});

/** The clock of this machine. */
export const SYSTEM_CLOCK: Clock = createClock(() => 0);

/** Sleeps as long as something remains; false if `wake` was aborted first. */
async function sleepWhile(remainingMs: () => number, wake: AbortSignal): Promise<boolean> {
  for (;;) {
    const leftMs = remainingMs();
    if (wake.aborted) return false;
    if (leftMs <= 0) return true;
    await delay(Math.min(leftMs, MAX_SLEEP_STEP_MS), undefined, { signal: wake }).catch(() => undefined);
  }
}
