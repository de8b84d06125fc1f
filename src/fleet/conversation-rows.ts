import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { TurnRef } from '../core/due.ts';
import { errorMessageOf } from '../errors.ts';
import type { ConversationCopies, ConversationFiles } from '../turns/turn-context.ts';
import { type Database, FOR_EXTRAS } from './database.ts';

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
    try {
      const packed = files && (await packFiles(files));
      const fence = { run, session, worker, epoch };
      await database.whenReachable(() => upsertConversation(database, fence, turn, packed), FOR_EXTRAS);
    } catch (error) {
      warn(`a conversation of ${run} stays on this worker: ${errorMessageOf(error)}`);
    }
  },
  async fetch(session) {
    const from = 'from raymond.conversations where run = $1 and session = $2 and worker <> $3';
    const files = await database.whenReachable(() => database.queryBytes('files', from, [run, session, worker]));
    return files ? unpackFiles(files) : null;
  },
});

const upsertConversation = (
  database: Database,
  { run, session, worker, epoch }: ConversationFence,
  { agent, number }: TurnRef,
  files: Buffer | null,
): Promise<unknown> =>
  database.query(
    `insert into raymond.conversations (run, session, worker, files) select $1, $2, $3, $4
     where exists (select 1 from raymond.runs where id = $1 and epoch = $5)
       or exists (select 1 from raymond.travelling
         where run = $1 and agent = $6 and turn = $7 and home = $3 and outcome is null and not withdrawn)
     on conflict (run, session) do update set worker = $3, files = $4`,
    [run, session, worker, files, epoch, agent, String(number)],
  );

interface ConversationFence {
  readonly run: string;
  readonly session: string;
  readonly worker: string;
  readonly epoch: number | null;
}

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
