import type { Clock, RemainingMs } from '../process/clock.ts';

interface Sleeper {
  readonly untilMs: number;
  /** Ends the sleep: because its time has been reached, or earlier. */
  readonly wake: (reachedTime: boolean) => void;
}

/**
 * A clock that jumps ahead when everything waits for it: a sleeper is woken as soon as nothing else is under way, the one with
 * the least to wait first.
 *
 * 1. `whileRunning` counts what is under way; a sleeper does not count.
 * 2. What takes real time, such as a real script, must not be counted: it may be waiting for one of the sleepers.
 */
export class VirtualTime implements Clock {
  private aheadMs: number;
  private busyCount = 0;
  private isAdvanceScheduled = false;
  private isStopped = false;
  private readonly sleepers = new Set<Sleeper>();

  /** The clock begins `aheadMs` ahead of the real time. */
  constructor(aheadMs = 0) {
    this.aheadMs = aheadMs;
  }

  /** How far the clock is ahead of the real time, in milliseconds. */
  get ahead(): number {
    return this.aheadMs;
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  fromFileTime(ms: number): number {
    return ms + this.aheadMs;
  }

  measureUntil(untilMs: number): RemainingMs {
    return () => untilMs - this.now();
  }

  sleepWhile(remainingMs: RemainingMs, wake: AbortSignal): Promise<boolean> {
    return this.sleepFor(remainingMs(), wake);
  }

  sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean> {
    if (this.isStopped) return new Promise(() => {});
    if (wake.aborted || untilMs <= this.now()) return Promise.resolve(!wake.aborted);
    return new Promise((slept) => {
      const sleeper: Sleeper = {
        untilMs,
        wake: (reachedTime) => {
          wake.removeEventListener('abort', woken);
          if (!this.sleepers.delete(sleeper)) return;
          this.busyCount += 1;
          slept(reachedTime);
        },
      };
      const woken = (): void => sleeper.wake(false);
      wake.addEventListener('abort', woken);
      this.sleepers.add(sleeper);
      this.busyCount -= 1;
      this.scheduleAdvance();
    });
  }

  sleepFor(ms: number, wake: AbortSignal): Promise<boolean> {
    return this.sleepUntil(this.now() + ms, wake);
  }

  /** Keeps the clock from jumping while `work` is under way and does not sleep. */
  async whileRunning<T>(work: () => Promise<T>): Promise<T> {
    this.busyCount += 1;
    try {
      return await work();
    } finally {
      this.busyCount -= 1;
      this.scheduleAdvance();
    }
  }

  /** Stops the clock: no sleeper is ever woken again, nor any that comes later. */
  stop(): void {
    this.isStopped = true;
    this.sleepers.clear();
  }

  /** Looks again after a tick: what has just ended may have set something else going. */
  private scheduleAdvance(): void {
    if (this.busyCount > 0 || this.isAdvanceScheduled || this.sleepers.size === 0) return;
    this.isAdvanceScheduled = true;
    setImmediate(() => {
      this.isAdvanceScheduled = false;
      if (this.busyCount === 0) this.advance();
    });
  }

  private advance(): void {
    let next: Sleeper | undefined;
    for (const sleeper of this.sleepers) if (next === undefined || sleeper.untilMs < next.untilMs) next = sleeper;
    if (next === undefined) return;
    this.aheadMs += Math.max(0, Math.ceil(next.untilMs - this.now()));
    next.wake(true);
  }
}
