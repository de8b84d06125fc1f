import type { Database } from '../storage/postgres/database.ts';
import { IS_ALIVE, IS_STEADY, NOT_GONE } from '../storage/postgres/liveness.ts';
import { PLACE_LOCK, SWEEP_LOCK } from '../storage/postgres/locks.ts';
import { chooseWorker } from './assign-run.ts';
import { FORGET_WORKERS } from './node-name.ts';
import type { DriveRequest, QueueClient } from './queues.ts';

/** Their rows are locked meanwhile. */
const MOST_AT_ONCE = 100;
/** Whoever was to give a run to a worker has done that by then, unless it is gone. */
const UNPLACED_AFTER_S = 10;

/** A run that has got another driver. */
export interface SweptRun {
  readonly run: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Gives the runs of workers that are gone to others, and those that nobody has placed; workers that were silent for very long are
 * forgotten. Nothing happens if somebody else is at it, or if this worker, of this name and token, was itself not heard of for a while.
 * Whoever drove such a run before can save nothing more, because its epoch is over.
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
        // Whoever was to place it may be gone; an entry that is there already is left alone.
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
