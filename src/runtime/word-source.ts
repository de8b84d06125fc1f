import { join } from 'node:path';
import { readEvents } from '../store/journal-events.ts';
import type { StoreLayout } from '../store/layout.ts';
import { listWordRequests, readWordRequest, removeWordRequest, type WordRequest } from '../store/word-request.ts';

/** Where what people say to the agents of one run waits, until it is in the journal. */
export interface WordSource {
  /** Finds what waits from before. */
  open(): Promise<void>;
  /** What waits, the oldest first. Cheap: it is asked for several times a second. */
  list(): readonly string[];
  /** Reads one of these; null if it cannot be read, undefined if it is gone. */
  read(name: string): WordRequest | null | undefined;
  /** Its name in messages. */
  describe(name: string): string;
  /** Removes one that is in the journal. One that cannot be removed does no harm. */
  remove(name: string): void;
  /** Whether something can be written into a turn of an agent that another process has taken. */
  canReach?(agent: string): boolean;
  /** The ids of all that the journal has already. */
  readJournaled(): Promise<ReadonlySet<string>>;
}

/** What people say to the agents of a run whose files are here. */
export function createFileWords(layout: StoreLayout, run: string): WordSource {
  const folder = layout.wordsFolder(run);
  return {
    open: async () => {},
    list: () => listWordRequests(folder),
    read: (name) => readWordRequest(join(folder, name)),
    describe: (name) => join(folder, name),
    remove: (name) => removeWordRequest(join(folder, name)),
    async readJournaled() {
      const journaled = new Set<string>();
      for await (const { event } of readEvents(layout, run)) {
        if (event.kind === 'said') journaled.add(event.said);
        if (event.kind === 'turn_interrupted') journaled.add(event.interrupt);
      }
      return journaled;
    },
  };
}
