import type { Event, RunEnded, Transitioned, TurnEnded } from '../core/event.ts';
import { NO_TOKENS } from '../core/tokens.ts';

/**
 * The versions of state files that can be read, each with the function that turns its data into the current version. A
 * released version stays resumable: it keeps its row here and its sample in `test/store/fixtures/versions/`.
 */
export const MIGRATIONS: ReadonlyMap<unknown, (data: object) => object> = new Map([
  [1, fromVersion1],
  [2, fromVersion2],
  [3, (data: object) => data],
]);

/** Version 1 has no checksums, no owner in a line, and markers that are made of the path. */
function fromVersion1(data: object): object {
  const run = fromVersion2(data);
  if (!('journal' in data) || typeof data.journal !== 'object') return run;
  const journal = { ...data.journal, owner: 0, checkedFrom: null };
  return { ...run, journal, mark: null, bootId: null, doubtful: [] };
}

/** Version 2 has fewer phases and fields; what is missing gets its default where it is read. */
function fromVersion2(data: object): object {
  return { ...data, version: 3 };
}

type WithOptional<T, Key extends keyof T> = Omit<T, Key> & Partial<Pick<T, Key>>;

/** An event as a journal may hold it: early journals have no tags of transitions, and no tokens. */
type JournalEvent =
  | Exclude<Event, Transitioned | TurnEnded | RunEnded>
  | WithOptional<Transitioned, 'tags' | 'tokens'>
  | WithOptional<TurnEnded, 'canned' | 'models'>
  | WithOptional<RunEnded, 'cannedMicros' | 'tokens'>;

/** Fills in what the events of older journals lack. */
export function completeEvent(event: JournalEvent): Event {
  switch (event.kind) {
    case 'transition':
      return { ...event, tags: event.tags ?? [], tokens: event.tokens ?? NO_TOKENS };
    case 'turn_ended':
      return { ...event, canned: event.canned ?? false, models: event.models ?? [] };
    case 'run_ended':
      return { ...event, cannedMicros: event.cannedMicros ?? 0, tokens: event.tokens ?? NO_TOKENS };
    default:
      return event;
  }
}
