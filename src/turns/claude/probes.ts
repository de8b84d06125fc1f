/** Counts usage limits in a row: one that gives no time is tried again later each time. */
export class Probes {
  private count = 0;
  private heldUntilMs = 0;

  /** How many limits were met in a row before one that is met now. Turns side by side meet the same one. */
  before(atMs: number): number {
    return atMs < this.heldUntilMs ? this.count - 1 : this.count;
  }

  met(atMs: number, untilMs: number): void {
    if (atMs >= this.heldUntilMs) this.count += 1;
    this.heldUntilMs = Math.max(this.heldUntilMs, untilMs);
  }

  /** A turn that began after the limit should have ended got through. */
  passed(startedAtMs: number): void {
    if (startedAtMs >= this.heldUntilMs) this.count = 0;
  }
}
