import type { Event } from '../core/event.ts';
import { errorCodeOf } from '../errors.ts';
import { readJournal } from './journal-lines.ts';
import type { StoreLayout } from './layout.ts';
import { loadSnapshot, unreadableFileError } from './load.ts';
import { completeEvent } from './migrations.ts';

/** An event of a journal, its step, and the byte offset after that step's line. */
export interface JournaledEvent {
  readonly seq: number;
  readonly offset: number;
  readonly event: Event;
}

/** Where to begin: after a step, or at the `offset` of the last event that was read, which skips what is before. */
export interface EventsStart {
  readonly afterSeq?: number;
  readonly offset?: number;
  /** The highest number of an owner before `offset`. */
  readonly owner?: number;
  /** From where on lines have checksums, if that is known: then the state file is not read for it. */
  readonly checkedFrom?: number | null;
}

/** Reads the events of a run so far, in order. */
export async function* readEvents(
  layout: StoreLayout,
  id: string,
  from: EventsStart = {},
): AsyncGenerator<JournaledEvent> {
  const { afterSeq = -1, offset = 0, owner = 0 } = from;
  const file = layout.journalFile(id);
  const { checkedFrom = (await loadSnapshot(layout, id)).journal.checkedFrom } = from;
  try {
    for await (const entries of readJournal(file, { offset, owner, checkedFrom })) {
      for (const { change, end } of entries) {
        if (change.seq <= afterSeq) continue;
        for (const event of change.events) yield { seq: change.seq, offset: end, event: completeEvent(event) };
      }
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw unreadableFileError(file, error);
  }
}
