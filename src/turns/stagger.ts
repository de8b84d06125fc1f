import { setTimeout as delay } from 'node:timers/promises';

/** Creates a function that lets callers through one by one, with `gapMs` between them. */
export function stagger(gapMs: number): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const previous = last;
    last = previous.then(() => delay(gapMs, undefined, { ref: false }));
    await previous;
  };
}
