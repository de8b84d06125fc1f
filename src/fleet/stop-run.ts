import { setTimeout as delay } from 'node:timers/promises';
import { step } from '../core/step.ts';
import type { RunReader } from '../runtime/run-reader.ts';
import type { StopOutcome, StopRequest } from '../runtime/stop.ts';
import { changeOf } from '../store/change.ts';
import type { Database } from './database.ts';
import { formatRow, loadRunRows } from './run-rows.ts';
import { IS_ALIVE } from './worker-name.ts';

const POLL_INTERVAL_MS = 150;
const ACKNOWLEDGE_WITHIN_MS = 3_000;

/**
 * Asks the worker of a run to stop it, and waits for that. A second request ends the running turns, too. A run that no worker has is
 * stopped here; if turns of it may still be running on a worker that is gone, the request waits for that.
 */
export async function stopDatabaseRun(
  database: Database,
  reader: RunReader,
  id: string,
  { now = false, observe, signal }: StopRequest,
): Promise<StopOutcome> {
  const before = await reader.observeRun(id);
  const [row] = await database.query<{ stop: 'soon' | 'now' }>(
    `update raymond.runs set stop = case when $2 or stop is not null then 'now' else 'soon' end
     where id = $1 and status = 'running' returning stop`,
    [id, now],
  );
  if (row === undefined) return { kind: 'idle', observed: await reader.observeRun(id) };
  const mode = row.stop;
  let isAcknowledged = false;
  let isReportedLate = false;
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    const state = await stopUndriven(database, id);
    const latest = await reader.observeRun(id);
    if (state === 'stopped' || state === 'at_rest') return { kind: 'stopped', observed: latest };
    if (state === 'left' || signal?.aborted) return { kind: 'stopping', observed: latest };
    if (waitedMs === 0 && mode === 'now') observe?.({ kind: 'stopping', observed: before, mode });
    if (!isAcknowledged && latest.observedStatus === 'stopping') {
      isAcknowledged = true;
      if (mode === 'soon') observe?.({ kind: 'stopping', observed: latest, mode });
    }
    if (!isAcknowledged && !isReportedLate && waitedMs >= ACKNOWLEDGE_WITHIN_MS) {
      isReportedLate = true;
      observe?.({ kind: 'not_responding', observed: latest, mode });
    }
    await delay(POLL_INTERVAL_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
  }
}

/**
 * Stops a run that no worker has: `driven` if one has it, `at_rest` if it has stopped already, `left` if turns of it may be running
 * on a worker that is gone. Its row is locked meanwhile, so that no worker can begin with it.
 */
function stopUndriven(database: Database, id: string): Promise<'driven' | 'at_rest' | 'stopped' | 'left'> {
  return database.transaction(async (client) => {
    const { rows } = await client.query<{ status: string; epoch: number; is_driven: boolean }>(
      `select status, epoch, exists(select 1 from raymond.workers where name = driver and ${IS_ALIVE}) as is_driven
       from raymond.runs where id = $1 for update`,
      [id],
    );
    const [row] = rows;
    if (row === undefined || row.status !== 'running') return 'at_rest';
    if (row.is_driven) return 'driven';
    // Through the same connection: others may wait for one, too.
    const { run } = await loadRunRows(
      { name: database.name, query: async (sql, values = []) => (await client.query(sql, [...values])).rows },
      id,
    );
    const set = `update raymond.runs set status = $2, begun = life, stop = null, waits_for = null`;
    if (run.status !== 'running') {
      // It was asked to go on, and nobody has begun with that.
      await client.query(`${set} where id = $1`, [id, run.status]);
      return 'stopped';
    }
    const stopped = step(run, { kind: 'stopped', at: database.clock.now(), by: 'stopped' });
    if (stopped.run.status === 'running') return 'left';
    const { status, seq } = stopped.run;
    const epoch = row.epoch + 1;
    await client.query(`${set}, seq = $3, epoch = $4 where id = $1`, [id, status, seq, epoch]);
    await client.query('insert into raymond.journal (run, seq, epoch, change) values ($1, $2, $3, $4)', [
      id,
      seq,
      epoch,
      formatRow(changeOf(run, stopped), epoch),
    ]);
    return 'stopped';
  });
}
