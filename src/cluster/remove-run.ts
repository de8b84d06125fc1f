import { EXIT, RaymondError } from '../errors.ts';
import type { Database } from '../storage/postgres/database.ts';
import { WORKFLOWS_LOCK } from '../storage/postgres/locks.ts';
import { QueueClient } from './queues.ts';
import { insertRemovals } from './removals.ts';

/** Keeps the workflows of a database from being removed, as a part of a transaction: a run is about to use one. */
export const KEEP_WORKFLOWS = `select pg_advisory_xact_lock_shared(${WORKFLOWS_LOCK})`;

/** Removes a run with its rows and its entries in the queues, and workflows that only it used. Its workers remove its files. */
export async function removeRunRows(database: Database, id: string): Promise<void> {
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
      await client.query(
        `delete from raymond.blobs where run is null and key not in (select 'workflow/' || workflow from raymond.runs)`,
      );
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
