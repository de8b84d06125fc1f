/** A queue of signals that wait to be applied, in the order in which they came. */
export class SignalQueue<Item> {
  private readonly items: Item[] = [];
  private failure: { readonly error: unknown } | undefined;
  private hasNews = false;
  private wake: () => void = () => {};

  put(item: Item): void {
    this.items.push(item);
    this.wakeUp();
  }

  /** Makes the reader of the queue fail with this error. */
  fail(error: unknown): void {
    this.failure = { error };
    this.wakeUp();
  }

  /** Wakes the reader although there is no new signal. */
  wakeUp(): void {
    this.hasNews = true;
    this.wake();
  }

  get isEmpty(): boolean {
    return this.items.length === 0 && this.failure === undefined;
  }

  /** Removes and returns all signals that have come by now. */
  drain(): readonly Item[] {
    if (this.failure !== undefined) throw this.failure.error;
    this.hasNews = false;
    return this.items.splice(0);
  }

  /** Resolves as soon as there is something new since the last `drain`. */
  arrival(): Promise<void> {
    if (this.hasNews) return Promise.resolve();
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
