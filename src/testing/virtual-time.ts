import type { Clock } from '../turns/clock.ts';

interface Sleeper {
  readonly untilMs: number;
  readonly wake: (slept: boolean) => void;
}

/**
 * A clock that jumps ahead when everything waits for it: a sleeper is woken as soon as nothing else is under way, the one with
 * the least to wait first.
 *
 * 1. `during` counts what is under way; a sleeper does not count.
 * 2. What takes real time, such as a real script, must not be counted: it may be waiting for one of the sleepers.
 */
export class VirtualTime implements Clock {
  private aheadMs: number;
  private underWay = 0;
  private isPlanned = false;
  private isOver = false;
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

  sleepUntil(untilMs: number, wake: AbortSignal): Promise<boolean> {
    if (this.isOver) return new Promise(() => {});
    if (wake.aborted || untilMs <= this.now()) return Promise.resolve(!wake.aborted);
    return new Promise((slept) => {
      const sleeper: Sleeper = {
        untilMs,
        wake: (isOver) => {
          wake.removeEventListener('abort', woken);
          if (!this.sleepers.delete(sleeper)) return;
          this.underWay += 1;
          slept(isOver);
        },
      };
      const woken = (): void => sleeper.wake(false);
      wake.addEventListener('abort', woken);
      this.sleepers.add(sleeper);
      this.underWay -= 1;
      this.plan();
    });
  }

  /** Keeps the clock from jumping while `happen` is under way and does not sleep. */
  async during<T>(happen: () => Promise<T>): Promise<T> {
    this.underWay += 1;
    try {
      return await happen();
    } finally {
      this.underWay -= 1;
      this.plan();
    }
  }

  /** Stops the clock: no sleeper is ever woken again, nor any that comes later. */
  stop(): void {
    this.isOver = true;
    this.sleepers.clear();
  }

  /** Looks again after a tick: what has just ended may have set something else going. */
  private plan(): void {
    if (this.underWay > 0 || this.isPlanned || this.sleepers.size === 0) return;
    this.isPlanned = true;
    setImmediate(() => {
      this.isPlanned = false;
      if (this.underWay === 0) this.advance();
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
