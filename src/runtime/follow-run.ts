import type { Event } from '../core/event.ts';
import type { JournaledEvent } from '../store/journal-events.ts';
import { openRuns, type RunLocation } from './open-runs.ts';

/** The events of one step of a run, under its number in the journal. */
export interface RunStep {
  readonly seq: number;
  readonly events: readonly Event[];
}

/** Reads the steps of a run after a step, as far as the journal has them. */
export async function* readSteps(id: string, location: RunLocation, after: number): AsyncGenerator<RunStep> {
  const runs = openRuns(location);
  for await (const { seq, events } of groupSteps(runs.readEvents(id, await runs.findStart(id, after))))
    yield { seq, events };
}

/** Follows a run: its steps after a step, those to come included, until the signal. It goes on when the run is resumed. */
export async function* followSteps(
  id: string,
  location: RunLocation,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<RunStep> {
  const runs = openRuns(location);
  const watch = runs.watch(id);
  signal.addEventListener('abort', watch.wake);
  try {
    let start = await runs.findStart(id, after);
    while (!signal.aborted) {
      for await (const { seq, events, offset } of groupSteps(runs.readEvents(id, start))) {
        start = { ...start, afterSeq: seq, offset };
        yield { seq, events };
        if (signal.aborted) return;
      }
      await watch.next();
    }
  } finally {
    signal.removeEventListener('abort', watch.wake);
    watch.close();
  }
}

async function* groupSteps(
  events: AsyncGenerator<JournaledEvent>,
): AsyncGenerator<RunStep & { readonly offset: number }> {
  let current: { seq: number; offset: number; events: Event[] } | undefined;
  for await (const { seq, offset, event } of events) {
    if (current !== undefined && current.seq !== seq) {
      yield current;
      current = undefined;
    }
    current ??= { seq, offset, events: [] };
    current.events.push(event);
  }
  if (current !== undefined) yield current;
}
