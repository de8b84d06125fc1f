import type { Event } from '../core/run/event.ts';

interface Reader {
  readonly queue: Event[];
  /** Ends the wait for more events. */
  wake: () => void;
}

/** Events to iterate over until the run ends. The first iterator also gets the events from before it started. */
export class EventStream implements AsyncIterable<Event> {
  private readonly readers = new Set<Reader>();
  private backlog: Event[] | undefined = [];
  private hasEnded = false;

  /** Hands events to every iterator. */
  push(events: readonly Event[]): void {
    // Not spread: an answer without a limit of forks may have more events than a call can have arguments.
    for (const event of events) this.backlog?.push(event);
    for (const reader of this.readers) {
      for (const event of events) reader.queue.push(event);
      reader.wake();
    }
  }

  /** Ends every iterator once it has read everything. */
  end(): void {
    this.hasEnded = true;
    for (const reader of this.readers) reader.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    const reader: Reader = { queue: this.backlog ?? [], wake: () => {} };
    this.backlog = undefined;
    this.readers.add(reader);
    try {
      for (;;) {
        yield* reader.queue.splice(0);
        if (reader.queue.length > 0) continue;
        if (this.hasEnded) return;
        await new Promise<void>((resolve) => {
          reader.wake = resolve;
        });
      }
    } finally {
      this.readers.delete(reader);
    }
  }
}
