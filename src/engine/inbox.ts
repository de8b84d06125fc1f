/** Signals that wait to be taken in, in the order in which they came. */
export class Inbox<Item> {
  private readonly items: Item[] = [];
  private failure: { readonly error: unknown } | undefined;
  private hasNews = false;
  private wake: () => void = () => {};

  put(item: Item): void {
    this.items.push(item);
    this.wakeUp();
  }

  /** Whoever waits for signals fails with this error. */
  fail(error: unknown): void {
    this.failure = { error };
    this.wakeUp();
  }

  /** Something has changed that is worth another look, though nothing was said. */
  wakeUp(): void {
    this.hasNews = true;
    this.wake();
  }

  get isEmpty(): boolean {
    return this.items.length === 0 && this.failure === undefined;
  }

  /** All that has come by now. */
  drain(): readonly Item[] {
    if (this.failure !== undefined) throw this.failure.error;
    this.hasNews = false;
    return this.items.splice(0);
  }

  /** Resolves as soon as there is news since the last look. */
  arrival(): Promise<void> {
    if (this.hasNews) return Promise.resolve();
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
