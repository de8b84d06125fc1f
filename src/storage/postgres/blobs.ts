import type { Blobs } from '../storage.ts';
import type { Database, RetryLimits } from './database.ts';

/** A put counts only while its writer has the run, or takes the turn; people put files without having either. */
const PUT = `insert into raymond.blobs (key, run, node, bytes) select $1, $2, $3, $4
where ($5::integer is null and $6::text is null)
  or exists (select 1 from raymond.runs where id = $2 and epoch = $5)
  or exists (select 1 from raymond.remote_turns
    where run = $2 and agent = $6 and turn = $7 and node = $3 and outcome is null and not withdrawn)
on conflict (key) do update set node = excluded.node, bytes = excluded.bytes
returning key`;

/** The blobs of a database: those of a run go with it. */
export const createDatabaseBlobs = (database: Database, patience: RetryLimits = {}): Blobs => ({
  isShared: true,
  async put(key, bytes, { node, epoch, turn }) {
    const values = [key, runOf(key), node, Buffer.from(bytes), epoch, turn?.agent ?? null, turn && String(turn.number)];
    return (await database.retryUntilReachable(() => database.query(PUT, values), patience)).length > 0;
  },
  async get(key) {
    const from = 'from raymond.blobs where key = $1';
    const bytes = await database.retryUntilReachable(() => database.queryBytes('bytes', from, [key]));
    if (!bytes) return null;
    const [row] = await database.retryUntilReachable(() =>
      database.query<{ node: string | null }>(`select node ${from}`, [key]),
    );
    return { bytes, node: row?.node ?? null };
  },
  async remove(prefix) {
    await database.query('delete from raymond.blobs where starts_with(key, $1)', [prefix]);
  },
});

/** The run that a blob belongs to; null for a workflow, which several runs may share. */
const runOf = (key: string): string | null => /^run\/([^/]+)\//.exec(key)?.[1] ?? null;

/** The key of the workflow with this hash. */
export const workflowKey = (hash: string): string => `workflow/${hash}`;

/** The key of a run's conversation. */
export const conversationKey = (run: string, session: string): string => `run/${run}/conversation/${session}`;

/** The key of what a turn was asked and what it said. */
export const turnKey = (run: string, agent: string, number: number): string => `run/${run}/turn/${agent}/${number}`;
