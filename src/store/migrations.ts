import type { Event, Transitioned } from '../core/event.ts';

/**
 * The versions of state files that can be read, each with the function that turns its data into the current version. A
 * released version stays resumable: it keeps its row here and its sample in `test/store/fixtures/versions/`.
 */
export const MIGRATIONS: ReadonlyMap<unknown, (data: object) => object> = new Map([
  [1, fromVersion1],
  [2, (data: object) => data],
]);

/** Version 1 has no checksums, no owner in a line, and markers that are made of the path. */
function fromVersion1(data: object): object {
  const run = { ...data, version: 2 };
  if (!('journal' in data) || typeof data.journal !== 'object') return run;
  const journal = { ...data.journal, owner: 0, checkedFrom: null };
  return { ...run, journal, mark: null, bootId: null, doubtful: [] };
}

/** An event as a journal may hold it: early journals have no `tags` in their transitions. */
type JournalEvent = Exclude<Event, Transitioned> | (Omit<Transitioned, 'tags'> & Partial<Pick<Transitioned, 'tags'>>);

/** Fills in what the events of older journals lack. */
export const completeEvent = (event: JournalEvent): Event =>
  event.kind === 'transition' ? { ...event, tags: event.tags ?? [] } : event;
