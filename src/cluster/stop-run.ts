import { setTimeout as delay } from 'node:timers/promises';
import { requestStop, type StopOutcome, type StopRequest } from '../app/stop.ts';
import { withChange } from '../core/run/change.ts';
import type { Step } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import { isLive } from '../core/run/status.ts';
import { step } from '../core/step.ts';
import { LeaseLostError, RunDrivenError } from '../storage/opened-run.ts';
import { type Database, IS_ALIVE } from '../storage/postgres/database.ts';
import { createDatabaseLeases, type DatabaseLease } from '../storage/postgres/lease.ts';
import { loadRunRows } from '../storage/postgres/run-rows.ts';
import { stopIdOf } from '../storage/requests.ts';
import type { RunStorage } from '../storage/storage.ts';
import { describeAnswerer } from '../wiring/request-handler.ts';

const POLL_INTERVAL_MS = 150;
const ACKNOWLEDGE_WITHIN_MS = 3_000;

/**
 * Asks the worker of a run to stop it, and waits for that. A second request ends the running turns, too. A run that no worker has is
 * stopped here; if turns of it may still be running on a worker that is gone, the request waits for that.
 */
export async function stopDatabaseRun(
  database: Database,
  storage: RunStorage,
  id: string,
  { now = false, observe, signal, env = process.env }: StopRequest,
): Promise<StopOutcome> {
  const before = await storage.runs.observe(id);
  const [row] = await database.query<{ generation: number }>(
    `select generation from raymond.runs where id = $1 and status = 'running'`,
    [id],
  );
  if (row === undefined) return { kind: 'idle', observed: before };
  const lease = String(row.generation);
  const signature = { by: describeAnswerer(env), at: database.clock.now() };
  const mode = await requestStop(storage.inbox, id, { lease, now, ...signature });
  let isAcknowledged = false;
  let isReportedLate = false;
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    const state = await stopUndriven(database, id);
    const latest = await storage.runs.observe(id);
    if (state === 'stopped' || state === 'at_rest') return { kind: 'stopped', observed: latest };
    // It was resumed in between, and runs on.
    if (
      (await storage.inbox.find(id, stopIdOf(mode, lease)))?.outcome?.kind === 'refused' &&
      isLive(latest.observedStatus)
    )
      return stopDatabaseRun(database, storage, id, {
        now,
        env,
        ...(observe && { observe }),
        ...(signal && { signal }),
      });
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
 * on a worker that is gone.
 */
async function stopUndriven(database: Database, id: string): Promise<'driven' | 'at_rest' | 'stopped' | 'left'> {
  const [row] = await database.query<{ status: string; is_driven: boolean }>(
    `select status, exists(select 1 from raymond.nodes where name = driver and ${IS_ALIVE}) as is_driven
     from raymond.runs where id = $1`,
    [id],
  );
  if (row === undefined || row.status !== 'running') return 'at_rest';
  if (row.is_driven) return 'driven';
  const stop = (run: Run): Step => step(run, { kind: 'stopped', at: database.clock.now(), by: 'stopped' });
  // Its driver may only be cut off: it keeps a run that cannot be stopped here.
  const { run: latest } = await loadRunRows(database, id);
  if (latest.status === 'running' && stop(latest).run.status === 'running') return 'left';
  try {
    const lease = await createDatabaseLeases(database).acquire(id);
    const { run: before } = lease;
    if (before.status === 'running') await lease.append([withChange(before, stop(before))]);
    else await endGeneration(database, lease);
    await settleStops(database, id);
    await lease.release();
    return before.status !== 'running' || stop(before).run.status !== 'running' ? 'stopped' : 'left';
  } catch (error) {
    if (error instanceof RunDrivenError || error instanceof LeaseLostError) return 'driven';
    throw error;
  }
}

/** Settles the requests to stop a run that has stopped. */
const settleStops = (database: Database, id: string): Promise<unknown> =>
  database.query(`update raymond.requests set outcome = $2 where run = $1 and kind = 'stop' and outcome is null`, [
    id,
    JSON.stringify({ kind: 'accepted', turn: null }),
  ]);

/** Takes back that a run was asked to continue, which nobody has begun with. */
const endGeneration = (database: Database, { run, epoch, generation }: DatabaseLease): Promise<unknown> =>
  database.query(
    'update raymond.runs set status = $2, begun = generation where id = $1 and epoch = $3 and generation = $4',
    [run.id, run.status, epoch, generation],
  );
