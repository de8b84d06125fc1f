import type { Event } from '../core/event.ts';
import { watchFile } from '../process/watch.ts';
import { type EventsStart, readEvents } from '../store/journal-events.ts';
import { findLayout, type StoreLayout } from '../store/layout.ts';
import { loadSnapshot } from '../store/load.ts';

/** The events of one step of a run, under its number in the journal. */
export interface RunStep {
  readonly seq: number;
  readonly events: readonly Event[];
}

/** Reads the steps of a run after a step, as far as the journal has them. */
export async function* readSteps(id: string, cwd: string, after: number): AsyncGenerator<RunStep> {
  const layout = findLayout(cwd);
  for await (const { seq, events } of groupSteps(readEvents(layout, id, await startAfter(layout, id, after))))
    yield { seq, events };
}

/** How often the journal is looked at where the system reports no changes. */
const POLL_INTERVAL_MS = 1_000;

/** Follows a run: its steps after a step, those to come included, until the signal. It goes on when the run is resumed. */
export async function* followSteps(
  id: string,
  cwd: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<RunStep> {
  const layout = findLayout(cwd);
  const watch = watchFile(layout.journalFile(id), POLL_INTERVAL_MS);
  signal.addEventListener('abort', watch.wake);
  try {
    let start = await startAfter(layout, id, after);
    while (!signal.aborted) {
      for await (const { seq, events, offset } of groupSteps(readEvents(layout, id, start))) {
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

/** Where to begin to read: what the state file covers can be skipped if it is not wanted. */
async function startAfter(layout: StoreLayout, id: string, after: number): Promise<EventsStart> {
  const { run, journal } = await loadSnapshot(layout, id);
  const { offset, owner, checkedFrom } = journal;
  return { afterSeq: after, checkedFrom, ...(after >= run.seq ? { offset, owner } : { offset: 0 }) };
}

async function* groupSteps(
  events: ReturnType<typeof readEvents>,
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
