import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Run } from '../core/run.ts';
import { canResume } from '../core/signals/resumed.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { ResumeRequest } from '../runtime/resume.ts';
import { PRODUCTION } from '../runtime/run-context.ts';
import { createEndedHandle, type RunHandle } from '../runtime/run-handle.ts';
import type { RunReader } from '../runtime/run-reader.ts';
import { withAbsoluteRoot } from '../runtime/run-workflows.ts';
import { composeRun, type RunRequest } from '../runtime/start.ts';
import type { StopOutcome, StopRequest } from '../runtime/stop.ts';
import { type Database, openDatabase } from './database.ts';
import { createDatabaseReader } from './database-reader.ts';
import { followDatabaseRun } from './follow-run.ts';
import { QueueClient } from './queues.ts';
import { insertRun, loadRunRows } from './run-rows.ts';
import { checkSchema } from './schema.ts';
import { packWorkflow } from './workflow-archive.ts';

/** How to start a run in a database. */
export interface DatabaseRunRequest extends RunRequest {
  /** The labels that its worker must have. */
  readonly labels: readonly string[];
}

/** The runs of a database, for those who start, steer and watch them. */
export interface DatabaseRuns {
  readonly reader: RunReader;
  start(path: string, request: DatabaseRunRequest): Promise<RunHandle>;
  resume(runRef: string, request: ResumeRequest): Promise<RunHandle>;
  stop(runRef: string, request: StopRequest): Promise<StopOutcome>;
  close(): Promise<void>;
}

/** Opens the runs of a database that is prepared for them. */
export async function openDatabaseRuns(
  address: string,
  onWait?: (message: string | null) => void,
): Promise<DatabaseRuns> {
  const database = await openDatabase(address, 4, onWait);
  await checkSchema(database).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const reader = createDatabaseReader(database);
  return {
    reader,
    start: (path, request) => startRun(database, path, request),
    async resume(runRef, request) {
      return resumeRun(database, await reader.resolveRunId(runRef), request);
    },
    async stop(runRef, request) {
      return stopRun(database, reader, await reader.resolveRunId(runRef), request);
    },
    close: reader.close,
  };
}

async function startRun(database: Database, path: string, request: DatabaseRunRequest): Promise<RunHandle> {
  const composed = await composeRun(path, { ...request, attended: true }, PRODUCTION);
  const { events, workflow } = composed;
  // Where agents work together is decided by the worker that gets the run.
  const run: Run = { ...composed.run, workFolders: null };
  const packed = await packWorkflow(workflow);
  const rows = { workflow: packed.hash, workflowPath: packed.path, labels: request.labels };
  await withQueues(database, (queues) =>
    database.transaction(async (client) => {
      await client.query('insert into raymond.workflows (hash, archive) values ($1, $2) on conflict do nothing', [
        ...[packed.hash, packed.archive],
      ]);
      await insertRun(client, run, events, rows);
      const wanted = { run: run.id, life: 1, options: {}, retry: false };
      await queues.add(client, wanted, { name: 'place', attempt: 1 });
    }),
  );
  return followDatabaseRun(database, { initial: run, fromSeq: 0, life: 1 }, request);
}

/** Lets a run go on. One that a worker drives already is only followed. */
async function resumeRun(database: Database, id: string, request: ResumeRequest): Promise<RunHandle> {
  const { retry = false, cwd = process.cwd() } = request;
  const { run } = await loadRunRows(database, id);
  if (run.status !== 'running' && !canResume(run, retry)) return createEndedHandle(run, []);
  const options = withAbsoluteRoot(request.options ?? {}, resolve(cwd));
  const life = await withQueues(database, (queues) =>
    database.transaction(async (client) => {
      const { rows } = await client.query<{ life: number; begun: number; status: string }>(
        'select life, begun, status from raymond.runs where id = $1 for update',
        [id],
      );
      const [row] = rows;
      if (row === undefined) throw new RaymondError(`no such run: ${id}`, { exitCode: EXIT.usage });
      if (row.begun < row.life || row.status === 'running') return row.life;
      await client.query(`update raymond.runs set life = life + 1, status = 'running', stop = null where id = $1`, [
        id,
      ]);
      const wanted = { run: id, life: row.life + 1, options, retry };
      await queues.add(client, wanted, { name: 'place', attempt: 1 });
      return wanted.life;
    }),
  );
  return followDatabaseRun(database, { initial: run, fromSeq: run.seq + 1, life }, request);
}

async function withQueues<T>(database: Database, action: (queues: QueueClient) => Promise<T>): Promise<T> {
  const queues = await QueueClient.open(database);
  try {
    return await action(queues);
  } finally {
    await queues.close();
  }
}

const POLL_INTERVAL_MS = 150;
const ACKNOWLEDGE_WITHIN_MS = 3_000;

/** Asks the worker of a run to stop it, and waits for that. A second request ends the running turns, too. */
async function stopRun(database: Database, reader: RunReader, id: string, request: StopRequest): Promise<StopOutcome> {
  const { now = false, observe, signal } = request;
  const observed = await reader.observeRun(id);
  if (observed.run.status !== 'running') return { kind: 'idle', observed };
  const [row] = await database.query<{ stop: 'soon' | 'now' }>(
    `update raymond.runs set stop = case when $2 or stop is not null then 'now' else 'soon' end
     where id = $1 returning stop`,
    [id, now],
  );
  const mode = row?.stop ?? 'soon';
  if (mode === 'now') observe?.({ kind: 'stopping', observed, mode });
  let isAcknowledged = false;
  let isReportedLate = false;
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    const latest = await reader.observeRun(id);
    if (latest.run.status !== 'running') return { kind: 'stopped', observed: latest };
    if (signal?.aborted) return { kind: 'stopping', observed: latest };
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
