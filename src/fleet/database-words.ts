import { formatWordRequest, type WordRequest } from '../store/word-request.ts';
import type { Database } from './database.ts';

/*
 * What a person says to an agent of a run in a database is a row, until the run's worker has it in the journal. Its id is in the
 * journal with it: a row whose id is there already has only not been removed, and means nothing.
 */

/** Puts what a person says into the database. */
export async function insertWords(database: Database, run: string, words: WordRequest): Promise<void> {
  await database.query(
    'insert into raymond.words (run, id, at, content) values ($1, $2, $3, $4) on conflict do nothing',
    [run, words.id, words.at, formatWordRequest(words)],
  );
}

/** Whether something that a person said waits for the run's worker. */
export const hasWords = async (database: Database, run: string, id: string): Promise<boolean> =>
  (await database.query('select 1 from raymond.words where run = $1 and id = $2', [run, id])).length > 0;

/** Removes what a person said. */
export async function deleteWords(database: Database, run: string, id: string): Promise<void> {
  await database.query('delete from raymond.words where run = $1 and id = $2', [run, id]);
}
