import type { PoolClient } from 'pg';
import { type Database, IS_ALIVE, IS_STEADY, NOT_GONE, PLACE_LOCK, SWEEP_LOCK } from '../storage/postgres/database.ts';
import { FORGET_WORKERS } from './node-name.ts';
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
async function chooseWorker(client: PoolClient, labels: readonly string[]): Promise<string | null> {
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

/** Their rows are locked meanwhile. */
const MOST_AT_ONCE = 100;
/** By then the node that assigns a run has done so, unless it is gone. */
const UNPLACED_AFTER_S = 10;

/** A run that has got another driver. */
interface SweptRun {
  readonly run: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Gives the runs of workers that are gone to others, and those that nobody has placed; workers that were silent for very long are
 * forgotten. Nothing happens if somebody else is at it, or if this worker, of this name and token, was itself not heard of for a while.
 * The former driver of such a run can save nothing more, because its epoch is over.
 */
export const reassignRuns = (
  database: Database,
  queues: QueueClient,
  { name, token }: { readonly name: string; readonly token: string },
): Promise<readonly SweptRun[]> =>
  database.transaction(async (client) => {
    const { rows: judges } = await client.query(
      `select 1 from raymond.nodes where name = $1 and token = $2 and ${IS_STEADY} and pg_try_advisory_xact_lock($3)`,
      [name, token, SWEEP_LOCK],
    );
    if (judges.length === 0) return [];
    const { rows: forgotten } = await client.query<{ name: string }>(FORGET_WORKERS);
    // Only tidiness: a queue that stays does no harm.
    for (const worker of forgotten) await queues.forgetWorker(worker.name).catch(() => {});
    await client.query('select pg_advisory_xact_lock($1)', [PLACE_LOCK]);
    const { rows: lost } = await client.query<LostRow>(
      `select id, driver, labels, move, request, is_gone
       from raymond.runs, lateral (
         select coalesce(driver not in ${NOT_GONE}, false) as is_gone
       ) as its_driver
       where status = 'running' and request is not null
         and (is_gone
           or (begun < generation and updated_at < now() - interval '${UNPLACED_AFTER_S} seconds'))
         and exists (select 1 from raymond.nodes where not draining and nodes.labels @> runs.labels and ${IS_ALIVE})
       order by driver is not null and not is_gone, updated_at limit $1 for update of runs skip locked`,
      [MOST_AT_ONCE],
    );
    const swept: SweptRun[] = [];
    for (const { id: run, driver: from, labels, move, request, is_gone: isGone } of lost) {
      if (from !== null && !isGone) {
        // The node that was to assign it may be gone; an entry that is there already is left alone.
        await queues.add(client, { ...request, move }, { name: 'drive', worker: from });
        continue;
      }
      const to = await chooseWorker(client, labels);
      if (to === null) continue;
      if (from === null) {
        await client.query('update raymond.runs set driver = $2, waits_for = null where id = $1', [run, to]);
        await queues.add(client, { ...request, move }, { name: 'drive', worker: to });
        continue;
      }
      // With another epoch, so that its worker of before is refused from now on, and not only when the next one has begun.
      await client.query(
        'update raymond.runs set driver = $2, move = $3, epoch = epoch + 1, waits_for = null where id = $1',
        [run, to, move + 1],
      );
      await queues.add(client, { ...request, move: move + 1, from }, { name: 'drive', worker: to });
      swept.push({ run, from, to });
    }
    return swept;
  });

interface LostRow {
  readonly id: string;
  readonly driver: string | null;
  readonly is_gone: boolean;
  readonly labels: readonly string[];
  readonly move: number;
  readonly request: DriveRequest;
}
