import type { Event } from '../core/event.ts';
import { type History, historyOf } from '../observers/history.ts';
import { readEvents } from '../store/events.ts';
import { findRaymondFolder, type Layout, layoutOf } from '../store/layout.ts';
import { findRun } from '../store/runs.ts';
import { lookAt, type Seen } from '../store/standing.ts';

/** Where a run stands and how it came there. */
export interface StatusReport extends Seen {
  readonly history: History;
}

const TRANSITIONS = 10;

/** Looks at a run: its id, the beginning of it, or `last`. Somebody may be driving it meanwhile. */
export async function reportOn(wanted: string, cwd = process.cwd()): Promise<StatusReport> {
  const layout = layoutOf(findRaymondFolder(cwd));
  const id = await findRun(layout, wanted);
  const seen = await lookAt(layout, id);
  return { ...seen, history: await historyOf(eventsUpTo(layout, id, seen.run.seq), TRANSITIONS) };
}

/** What happened after the look we had is not told: it would not fit. */
async function* eventsUpTo(layout: Layout, id: string, seq: number): AsyncGenerator<Event> {
  for await (const recorded of readEvents(layout, id)) {
    if (recorded.seq > seq) return;
    yield recorded.event;
  }
}
