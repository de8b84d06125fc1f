import { EXIT, RaymondError } from '../errors.ts';
import type { PrunePlace } from '../runtime/prune.ts';
import type { RunReader } from '../runtime/run-reader.ts';
import type { Database } from './database.ts';
import { findDatabaseWorktrees } from './database-worktrees.ts';
import { WORKFLOWS_LOCK } from './locks.ts';
import { QueueClient } from './queues.ts';
import { insertRemovals } from './removals.ts';

/** Keeps the workflows of a database from being removed, as a part of a transaction: a run is about to use one. */
export const KEEP_WORKFLOWS = `select pg_advisory_xact_lock_shared(${WORKFLOWS_LOCK})`;

/** The runs of a database, for those who remove them. */
export function createDatabasePrunePlace(database: Database, reader: RunReader): PrunePlace {
  return {
    list: () => reader.listRuns(false),
    resolve: (run) => reader.resolveRunId(run),
    async measure(id) {
      const [row] = await database.query<{ bytes: string; changed_at: Date }>(MEASURE, [id]);
      return { bytes: Number(row?.bytes ?? 0), changedAt: row?.changed_at.getTime() ?? 0 };
    },
    findWorktrees: async (id) => findDatabaseWorktrees(reader, id),
    remove: ({ id }) => removeRun(database, id),
    finishRemovals: async () => {},
  };
}

const MEASURE = `select updated_at as changed_at, pg_column_size(runs.*)
  ${['journal', 'answers', 'uploads', 'words', 'turns', 'conversations', 'travelling']
    .map((table) => `+ coalesce((select sum(pg_column_size(t.*)) from raymond.${table} t where run = runs.id), 0)`)
    .join('\n  ')} as bytes
  from raymond.runs where id = $1`;

/** Removes a run with its rows and its entries in the queues, and workflows that only it used. Its workers remove its files. */
async function removeRun(database: Database, id: string): Promise<void> {
  const queues = await QueueClient.open(database);
  try {
    const [found] = await database.query<{ status: string }>('select status from raymond.runs where id = $1', [id]);
    if (found?.status === 'running') throw isRunningError(id);
    // Before its row goes: an entry that is left would stand in the way of a later run of this id.
    await queues.forgetRun(id);
    await database.transaction(async (client) => {
      const { rows } = await client.query<{ mark: string }>(
        `delete from raymond.runs where id = $1 and status <> 'running' returning mark`,
        [id],
      );
      const [row] = rows;
      if (row === undefined) throw isRunningError(id);
      await insertRemovals(client, { run: id, mark: row.mark });
    });
    await database.transaction(async (client) => {
      await client.query(`select pg_advisory_xact_lock(${WORKFLOWS_LOCK})`);
      await client.query('delete from raymond.workflows where hash not in (select workflow from raymond.runs)');
    });
  } finally {
    await queues.close();
  }
}

const isRunningError = (id: string): RaymondError =>
  new RaymondError(`The run ${id} is running: it is not removed.`, {
    exitCode: EXIT.usage,
    hint: `Stop it first: \`raymond stop ${id}\`.`,
  });
