import type { Clock } from '../turns/clock.ts';

interface Sleeper {
  readonly untilMs: number;
  readonly wake: (slept: boolean) => void;
}

/**
 * Time that passes only when everybody waits for it: who sleeps for an hour is woken as soon as nothing else is under
 * way, and whoever has the least to wait is woken first.
 *
 * 1. What is under way is counted by `during`; who sleeps is not.
 * 2. What takes its own time, such as a real script, is left out: it may be waiting for one of the sleepers.
 */
export class VirtualTime implements Clock {
  private aheadMs: number;
  private underWay = 0;
  private isPlanned = false;
  private isOver = false;
  private readonly sleepers = new Set<Sleeper>();

  /** `aheadMs` is how far it is ahead of the time of day already. */
  constructor(aheadMs = 0) {
    this.aheadMs = aheadMs;
  }

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

  /** Lets something happen, during which no time passes unless it sleeps. */
  async during<T>(happen: () => Promise<T>): Promise<T> {
    this.underWay += 1;
    try {
      return await happen();
    } finally {
      this.underWay -= 1;
      this.plan();
    }
  }

  /** Nobody who sleeps is ever woken again, nor who falls asleep later. */
  stop(): void {
    this.isOver = true;
    this.sleepers.clear();
  }

  /** What is said now may set others going, who count from then on: we look when they had their chance. */
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
