/** Limits how many processes are kept without a turn at the same time, whichever runs they belong to. */
export class IdleLimit {
  private readonly most: number;
  /** Closes each of them, the longest idle first. */
  private readonly closers = new Set<() => void>();

  constructor(most: number) {
    this.most = most;
  }

  /** True if so many more may be kept. */
  hasRoomFor(more: number): boolean {
    return this.closers.size + more <= this.most;
  }

  /** Adds a process by the function that closes it; if there are too many, those that were added first are closed. */
  add(close: () => void): void {
    this.closers.add(close);
    for (const each of [...this.closers]) {
      if (this.hasRoomFor(0)) break;
      each();
    }
  }

  /** Removes a process that is busy or gone. */
  remove(close: () => void): void {
    this.closers.delete(close);
  }
}
