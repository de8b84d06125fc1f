import type { WordSource } from '../runtime/word-source.ts';
import { parseWordRequest } from '../store/word-request.ts';
import type { Database } from './database.ts';
import { readChanges } from './database-reader.ts';
import { deleteWords } from './database-words.ts';
import type { Requests, WordsRow } from './requests.ts';

/** What people say to the agents of one run of this worker. */
export function createDatabaseWords(database: Database, requests: Requests, run: string): WordSource {
  return {
    async open() {
      const rows = await database.whenReachable(() =>
        database.query<WordsRow>('select run, id, content from raymond.words where run = $1 order by at', [run]),
      );
      requests.noteWords(rows);
    },
    list: () => requests.wordsOf(run).map(({ id }) => id),
    read(name) {
      const row = requests.wordsOf(run).find(({ id }) => id === name);
      return row && parseWordRequest(row.content);
    },
    describe: (name) => `the row ${name} of raymond.words in ${database.name}`,
    remove: (name) => void database.whenReachable(() => deleteWords(database, run, name)).catch(() => {}),
    async readJournaled() {
      const journaled = new Set<string>();
      for await (const { events } of readChanges(database, run, 0))
        for (const event of events) {
          if (event.kind === 'said') journaled.add(event.said);
          if (event.kind === 'turn_interrupted') journaled.add(event.interrupt);
        }
      return journaled;
    },
  };
}
