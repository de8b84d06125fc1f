import type { Database } from './database.ts';
import { chooseWorker, PLACE_LOCK } from './place-run.ts';
import type { DriveRequest, QueueClient } from './queues.ts';
import { IS_GONE, IS_STEADY } from './worker-name.ts';

/** Only to tell our lock from those of others. */
const SWEEP_LOCK = 7_296_154_013;
/** Their rows are locked meanwhile. */
const MOST_AT_ONCE = 100;

/** A run that has got another driver. */
export interface SweptRun {
  readonly run: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Gives the runs of workers that are gone to others. Nothing happens if somebody else is at it, or if this worker, of this name and
 * token, was itself not heard of for a while. Whoever drove such a run before can save nothing more, because the run has moved.
 */
export const sweepRuns = (
  database: Database,
  queues: QueueClient,
  { name, token }: { readonly name: string; readonly token: string },
): Promise<readonly SweptRun[]> =>
  database.transaction(async (client) => {
    const { rows: judges } = await client.query(
      `select 1 from raymond.workers where name = $1 and token = $2 and ${IS_STEADY} and pg_try_advisory_xact_lock($3)`,
      [name, token, SWEEP_LOCK],
    );
    if (judges.length === 0) return [];
    const { rows: lost } = await client.query<LostRow>(
      `select id, driver, labels, move, request from raymond.runs
       where status = 'running' and request is not null
         and driver in (select name from raymond.workers where ${IS_GONE})
       order by updated_at limit $1 for update skip locked`,
      [MOST_AT_ONCE],
    );
    if (lost.length > 0) await client.query('select pg_advisory_xact_lock($1)', [PLACE_LOCK]);
    const swept: SweptRun[] = [];
    for (const { id: run, driver: from, labels, move, request } of lost) {
      const to = await chooseWorker(client, labels);
      if (to === null) continue;
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
  readonly driver: string;
  readonly labels: readonly string[];
  readonly move: number;
  readonly request: DriveRequest;
}
