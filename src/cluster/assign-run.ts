import type { PoolClient } from 'pg';
import type { Database } from '../storage/postgres/database.ts';
import { IS_ALIVE } from '../storage/postgres/liveness.ts';
import { PLACE_LOCK } from '../storage/postgres/locks.ts';
import type { DriveRequest, QueueClient } from './queues.ts';

/**
 * Gives a run to a worker: the one that it had before, else that with the fewest runs for its slots, of those that are alive and have
 * its labels. If there is none, it is tried again a little later, and the run says what it waits for.
 */
export async function assignRun(
  database: Database,
  queues: QueueClient,
  request: DriveRequest,
  attempt: number,
): Promise<void> {
  await database.retryUntilReachable(() =>
    database.transaction(async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [PLACE_LOCK]);
      const { rows } = await client.query<{ driver: string | null; labels: readonly string[]; move: number }>(
        `select driver, labels, move from raymond.runs where id = $1 and generation = $2 and begun < generation and status = 'running' for update`,
        [request.run, request.generation],
      );
      const [run] = rows;
      if (run === undefined) return;
      const worker = run.driver ?? (await chooseWorker(client, run.labels));
      const wanted = { ...request, move: run.move };
      const waitsFor = worker === null ? describeWanted(run.labels) : null;
      await client.query('update raymond.runs set driver = $2, waits_for = $3, request = $4 where id = $1', [
        request.run,
        worker,
        waitsFor,
        JSON.stringify(wanted),
      ]);
      if (worker === null) await queues.add(client, request, { name: 'place', attempt: attempt + 1 });
      else await queues.add(client, wanted, { name: 'drive', worker });
    }),
  );
  // Only tidiness: what cannot be removed now does no harm.
  if (attempt > 1) await queues.forgetPlace(request, attempt - 1).catch(() => {});
}

/** The worker with the fewest runs for its slots, of those that are alive and have these labels; null if there is none. */
export async function chooseWorker(client: PoolClient, labels: readonly string[]): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>(
    `select name from raymond.nodes
     where not draining and labels @> $1 and ${IS_ALIVE}
     order by (select count(*) from raymond.runs where driver = nodes.name and status = 'running')::float / slots,
       random()
     limit 1`,
    [labels],
  );
  return rows[0]?.name ?? null;
}

const describeWanted = (labels: readonly string[]): string =>
  labels.length === 0 ? 'a worker' : `a worker with the label${labels.length > 1 ? 's' : ''} ${labels.join(', ')}`;
