import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { errorMessageOf } from '../errors.ts';
import type { ConversationCopies, ConversationFiles } from '../turns/turn-context.ts';
import type { Database } from './database.ts';

/*
 * After each turn of Claude Code the newest copy of its conversation is in the database, before the end of the turn counts. The
 * worker that stored it last has it on its disk, perhaps with more; any other takes it from here.
 */

/** The conversations of a run, for one worker. */
export const createConversationCopies = (
  database: Database,
  run: string,
  worker: string,
  warn: (message: string) => void,
): ConversationCopies => ({
  async store(session, files) {
    try {
      const packed = files && (await packFiles(files));
      await database.whenReachable(() => upsertConversation(database, run, session, worker, packed));
    } catch (error) {
      warn(`a conversation of ${run} stays on this worker: ${errorMessageOf(error)}`);
    }
  },
  async fetch(session) {
    const [row] = await database.whenReachable(() =>
      database.query<{ files: Buffer | null }>(
        'select files from raymond.conversations where run = $1 and session = $2 and worker <> $3',
        [run, session, worker],
      ),
    );
    return row?.files ? unpackFiles(row.files) : null;
  },
});

const upsertConversation = (
  database: Database,
  run: string,
  session: string,
  worker: string,
  files: Buffer | null,
): Promise<unknown> =>
  database.query(
    `insert into raymond.conversations (run, session, worker, files) values ($1, $2, $3, $4)
     on conflict (run, session) do update set worker = $3, files = $4`,
    [run, session, worker, files],
  );

/** One line with the names and lengths of the files, and then all of them, compressed. */
async function packFiles(files: ConversationFiles): Promise<Buffer> {
  const entries = Object.entries(files);
  const index = JSON.stringify(entries.map(([name, { length }]) => [name, length]));
  return promisify(gzip)(Buffer.concat([Buffer.from(`${index}\n`), ...entries.map(([, content]) => content)]));
}

async function unpackFiles(packed: Buffer): Promise<ConversationFiles> {
  const bytes = await promisify(gunzip)(packed);
  const end = bytes.indexOf('\n');
  const index: readonly (readonly [string, number])[] = JSON.parse(bytes.toString('utf8', 0, end));
  let at = end + 1;
  return Object.fromEntries(
    index.map(([name, length]) => {
      at += length;
      return [name, bytes.subarray(at - length, at)];
    }),
  );
}
