/** Counts usage limits in a row: one that gives no time is tried again later each time. */
export class LimitBackoff {
  private count = 0;
  private blockedUntilMs = 0;

  /** How many limits were met in a row before one that is met now. Turns side by side meet the same one. */
  priorLimits(atMs: number): number {
    return atMs < this.blockedUntilMs ? this.count - 1 : this.count;
  }

  recordLimit(atMs: number, untilMs: number): void {
    if (atMs >= this.blockedUntilMs) this.count += 1;
    this.blockedUntilMs = Math.max(this.blockedUntilMs, untilMs);
  }

  /** A turn that began after the limit should have ended got through. */
  recordSuccess(startedAtMs: number): void {
    if (startedAtMs >= this.blockedUntilMs) this.count = 0;
  }
}
