import type { Event, Transitioned } from '../core/event.ts';

/**
 * The versions of state files that can be read, each with what brings its data to the version of today. A landed version
 * stays resumable: it keeps its row here and its sample in `test/store/fixtures/versions/`.
 */
export const MIGRATIONS: ReadonlyMap<unknown, (data: object) => object> = new Map([[1, (data: object) => data]]);

/** An event as a journal may hold it: the tags of a transition were not told from the beginning. */
type JournalEvent = Exclude<Event, Transitioned> | (Omit<Transitioned, 'tags'> & Partial<Pick<Transitioned, 'tags'>>);

/** Fills in what the events of older journals lack. */
export const completeEvent = (event: JournalEvent): Event =>
  event.kind === 'transition' ? { ...event, tags: event.tags ?? [] } : event;
