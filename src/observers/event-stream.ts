import type { Event } from '../core/event.ts';

/** Events to iterate over until the run is over. Who comes first gets those that came before; everybody gets the rest. */
export class EventStream implements AsyncIterable<Event> {
  private readonly readers = new Set<Reader>();
  private backlog: Event[] | undefined = [];
  private over = false;

  tell(events: readonly Event[]): void {
    this.backlog?.push(...events);
    for (const reader of this.readers) reader.take(events);
  }

  end(): void {
    this.over = true;
    for (const reader of this.readers) reader.take([]);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    const reader = new Reader(this.backlog ?? []);
    this.backlog = undefined;
    this.readers.add(reader);
    try {
      for (;;) {
        yield* reader.waiting.splice(0);
        if (reader.waiting.length > 0) continue;
        if (this.over) return;
        await reader.news();
      }
    } finally {
      this.readers.delete(reader);
    }
  }
}

class Reader {
  readonly waiting: Event[];
  private wake: () => void = () => {};

  constructor(waiting: Event[]) {
    this.waiting = waiting;
  }

  take(events: readonly Event[]): void {
    this.waiting.push(...events);
    this.wake();
  }

  news(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
