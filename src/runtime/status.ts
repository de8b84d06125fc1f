import type { Event } from '../core/event.ts';
import { collectHistory, type RunHistory } from '../events/run-history.ts';
import { readEvents } from '../store/journal-events.ts';
import { findLayout, type StoreLayout } from '../store/layout.ts';
import { type ObservedRun, observeRun } from '../store/observed-run.ts';
import { resolveRunId } from '../store/runs.ts';

/** The status of a run, with its history. */
export interface StatusReport extends ObservedRun {
  readonly history: RunHistory;
}

const MAX_TRANSITIONS = 10;

/**
 * Reads the status of a run, given by its id, a unique beginning of it, or `last`. Another process may be driving it.
 */
export async function getStatus(runRef: string, cwd = process.cwd()): Promise<StatusReport> {
  const layout = findLayout(cwd);
  const id = await resolveRunId(layout, runRef);
  const observed = await observeRun(layout, id);
  return { ...observed, history: await collectHistory(eventsUpTo(layout, id, observed.run.seq), MAX_TRANSITIONS) };
}

/** Leaves out events after the observed step: they would not match it. */
async function* eventsUpTo(layout: StoreLayout, id: string, seq: number): AsyncGenerator<Event> {
  for await (const recorded of readEvents(layout, id)) {
    if (recorded.seq > seq) return;
    yield recorded.event;
  }
}
