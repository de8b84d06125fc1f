import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import { errorMessageOf } from '../errors.ts';
import { conversationKey, createDatabaseBlobs } from '../storage/postgres/blobs.ts';
import { BEST_EFFORT, type Database } from '../storage/postgres/database.ts';
import { parseRow } from '../storage/postgres/parse-row.ts';
import type { ConversationCopies, ConversationFiles } from '../turns/turn-context.ts';

/*
 * After each turn of Claude Code the newest copy of its conversation is in the database, before the end of the turn counts. The
 * worker that stored it last has it on its disk, perhaps with more; any other takes it from here.
 */

/**
 * The conversations of a run, for one worker: for who drives the run, with its epoch, and for who takes a turn of it. What a worker says
 * that has lost both does not count.
 */
export const createConversationCopies = (
  database: Database,
  run: string,
  worker: string,
  warn: (message: string) => void,
  epoch: number | null = null,
): ConversationCopies => ({
  async store(turn, session, files) {
    const key = conversationKey(run, session);
    try {
      const writer = { node: worker, epoch, turn };
      // One that cannot be copied must not be taken for the copy of before.
      await createDatabaseBlobs(database, BEST_EFFORT).put(key, files === null ? NONE : await packFiles(files), writer);
    } catch (error) {
      warn(`a conversation of ${run} stays on this worker: ${errorMessageOf(error)}`);
    }
  },
  async fetch(session) {
    const from = 'from raymond.blobs where key = $1 and node <> $2';
    const key = conversationKey(run, session);
    const files = await database.retryUntilReachable(() => database.queryBytes('bytes', from, [key, worker]));
    return files && files.length > 0
      ? unpackFiles(files, `The conversation ${session} of ${run} in ${database.name}`)
      : null;
  },
});

const NONE = Buffer.alloc(0);

/** One line with the names and lengths of the files, and then all of them, compressed. */
async function packFiles(files: ConversationFiles): Promise<Buffer> {
  const entries = Object.entries(files);
  const index = JSON.stringify(entries.map(([name, { length }]) => [name, length]));
  return promisify(gzip)(Buffer.concat([Buffer.from(`${index}\n`), ...entries.map(([, content]) => content)]));
}

const INDEX = z.array(z.tuple([z.string(), z.int().nonnegative()]));

async function unpackFiles(packed: Buffer, row: string): Promise<ConversationFiles> {
  const bytes = await promisify(gunzip)(packed);
  const end = bytes.indexOf('\n');
  const index = parseRow(INDEX, bytes.toString('utf8', 0, end), row);
  let at = end + 1;
  return Object.fromEntries(
    index.map(([name, length]) => {
      at += length;
      return [name, bytes.subarray(at - length, at)];
    }),
  );
}
