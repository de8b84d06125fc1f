import { setTimeout as delay } from 'node:timers/promises';

/** The time of a run. Turns and runtime use no other, so that tests can let it pass as they like. */
export interface Clock {
  /** The time of day, in milliseconds since 1970. */
  now(): number;
  /** Measures from now on what is left until a time of day, at most `mostMs`. A clock that is set back does not make it more. */
  measureUntil(untilMs: number, mostMs: number): RemainingMs;
  /** Sleeps as long as something remains; false if `wake` was aborted first. */
  sleepWhile(remainingMs: RemainingMs, wake: AbortSignal): Promise<boolean>;
  /** Sleeps for a time, however the time of day is changed meanwhile; false if `wake` was aborted first. */
  sleepFor(ms: number, wake: AbortSignal): Promise<boolean>;
  /** The time on this clock when a file had this modification time. */
  fromFileTime(ms: number): number;
}

/** The time that is left, in milliseconds; 0 or less if it is over. */
export type RemainingMs = () => number;

const MAX_SLEEP_STEP_MS = 60_000;

/** A clock that is ahead of this machine's by so much. It looks at the time every minute: a laptop that was shut wakes up on time. */
export function createClock(aheadMs: () => number): Clock {
  const now = (): number => Date.now() + aheadMs();
  return {
    now,
    measureUntil: (untilMs, mostMs) => measureTo(untilMs, mostMs, now),
    sleepWhile,
    // The difference of another clock may change meanwhile, which is no reason to sleep longer or shorter.
    sleepFor: (ms, wake) => sleepWhile(measureTo(Date.now() + ms, ms, Date.now), wake),
    fromFileTime: (ms) => ms + aheadMs(),
  };
}

/** Milliseconds on a clock that nobody sets. `performance.now` is the same, but the first use of `performance` takes 1.4 ms. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/** The monotonic clock stands still while the machine sleeps, and the time of day may be set back: the first to get there counts. */
function measureTo(untilMs: number, mostMs: number, timeOfDay: () => number): RemainingMs {
  const deadlineMs = monotonicMs() + Math.min(untilMs - timeOfDay(), mostMs);
  return () => Math.min(untilMs - timeOfDay(), deadlineMs - monotonicMs());
}

/** Measures how much time passes from now on; a clock that is set back does not make it less. */
export function startStopwatch(): () => number {
  const remainingMs = measureTo(Date.now(), 0, Date.now);
  return () => -remainingMs();
}

/** The clock of this machine. */
export const SYSTEM_CLOCK: Clock = createClock(() => 0);

/** Sleeps as long as something remains; false if `wake` was aborted first. */
async function sleepWhile(remainingMs: RemainingMs, wake: AbortSignal): Promise<boolean> {
  for (;;) {
    const leftMs = remainingMs();
    if (wake.aborted) return false;
    if (leftMs <= 0) return true;
    await delay(Math.min(leftMs, MAX_SLEEP_STEP_MS), undefined, { signal: wake }).catch(() => undefined);
  }
}
