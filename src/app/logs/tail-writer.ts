/** Holds lines back until it is told to continue, and then writes only the last of them. */
export class TailWriter {
  private readonly held: string[] = [];
  private readonly target: (line: string) => void;
  private readonly maxLines: number;
  private isHolding = true;

  constructor(write: (line: string) => void, maxLines: number) {
    this.target = write;
    this.maxLines = maxLines;
  }

  write(line: string): void {
    if (!this.isHolding) {
      this.target(line);
      return;
    }
    this.held.push(line);
    // Cut now and then: to drop the first of many at each line would be slow.
    if (this.held.length > 2 * this.maxLines + 1_000) this.held.splice(0, this.held.length - this.maxLines);
  }

  /** Writes the last lines, and from now on each at once. */
  goOn(): void {
    if (!this.isHolding) return;
    this.isHolding = false;
    for (const line of this.held.slice(Math.max(0, this.held.length - this.maxLines))) this.target(line);
    this.held.length = 0;
  }
}
