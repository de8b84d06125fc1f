import type { Event } from '../core/event.ts';

/** Events as something to iterate over, from the moment it is made until the run is over. */
export class EventStream implements AsyncIterable<Event> {
  private readonly waiting: Event[] = [];
  private over = false;
  private wake: () => void = () => {};

  tell(events: readonly Event[]): void {
    this.waiting.push(...events);
    this.wake();
  }

  end(): void {
    this.over = true;
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    for (;;) {
      yield* this.waiting.splice(0);
      if (this.waiting.length > 0) continue;
      if (this.over) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
