import type { Event } from '../core/event.ts';

/** Events to iterate over until the run ends. The first iterator also gets the events from before it started. */
export class EventStream implements AsyncIterable<Event> {
  private readonly readers = new Set<Reader>();
  private backlog: Event[] | undefined = [];
  private hasEnded = false;

  /** Hands events to every iterator. */
  push(events: readonly Event[]): void {
    this.backlog?.push(...events);
    for (const reader of this.readers) reader.push(events);
  }

  /** Ends every iterator once it has read everything. */
  end(): void {
    this.hasEnded = true;
    for (const reader of this.readers) reader.push([]);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    const reader = new Reader(this.backlog ?? []);
    this.backlog = undefined;
    this.readers.add(reader);
    try {
      for (;;) {
        yield* reader.queue.splice(0);
        if (reader.queue.length > 0) continue;
        if (this.hasEnded) return;
        await reader.waitForEvents();
      }
    } finally {
      this.readers.delete(reader);
    }
  }
}

class Reader {
  readonly queue: Event[];
  private wake: () => void = () => {};

  constructor(queue: Event[]) {
    this.queue = queue;
  }

  push(events: readonly Event[]): void {
    this.queue.push(...events);
    this.wake();
  }

  waitForEvents(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
