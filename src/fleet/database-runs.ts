import { randomBytes, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Run } from '../core/run.ts';
import { canResume } from '../core/signals/resumed.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { FoundWorktree } from '../events/found-worktree.ts';
import type { PrunePlace } from '../runtime/prune.ts';
import type { ResumeRequest } from '../runtime/resume.ts';
import { PRODUCTION } from '../runtime/run-context.ts';
import { createEndedHandle, type RunHandle } from '../runtime/run-handle.ts';
import type { RunReader } from '../runtime/run-reader.ts';
import { withAbsoluteRoot } from '../runtime/run-workflows.ts';
import { composeRun, type RunRequest } from '../runtime/start.ts';
import type { StopOutcome, StopRequest } from '../runtime/stop.ts';
import { type Database, openDatabase, withTime } from './database.ts';
import { createDatabaseReader } from './database-reader.ts';
import { findDatabaseWorktrees } from './database-worktrees.ts';
import { followDatabaseRun } from './follow-run.ts';
import { createDatabasePrunePlace, KEEP_WORKFLOWS } from './prune-runs.ts';
import { type DriveRequest, QueueClient } from './queues.ts';
import { insertRun, loadRunRows } from './run-rows.ts';
import { checkSchema } from './schema.ts';
import { stopDatabaseRun } from './stop-run.ts';
import { packWorkflow } from './workflow-archive.ts';

/** How to open the runs of a database. */
interface OpenRequest extends WithWarnings {
  /** For how long to wait if it cannot be reached from the first; by default not at all. */
  readonly waitAtMostMs?: number;
}

interface WithWarnings {
  /** Called with a sentence while the database cannot be reached, and once it can again. */
  readonly warn?: (sentence: string) => void;
}

/** How to start a run in a database. */
export interface DatabaseRunRequest extends RunRequest, WithWarnings {
  /** The labels that its worker must have. */
  readonly labels: readonly string[];
}

/** The runs of a database, for those who start, steer and watch them. */
export interface DatabaseRuns {
  /** The name of the database in messages. */
  readonly name: string;
  readonly reader: RunReader;
  start(path: string, request: DatabaseRunRequest): Promise<RunHandle>;
  resume(runRef: string, request: ResumeRequest & WithWarnings): Promise<RunHandle>;
  stop(runRef: string, request: StopRequest): Promise<StopOutcome>;
  readonly prunePlace: PrunePlace;
  /** The worktrees of all runs, or of one. */
  findWorktrees(run?: string): Promise<readonly FoundWorktree[]>;
  close(): Promise<void>;
}

/** Opens the runs of a database that is prepared for them. */
export async function openDatabaseRuns(
  address: string,
  { warn, waitAtMostMs = 0 }: OpenRequest = {},
): Promise<DatabaseRuns> {
  let tell = warn;
  const database = await openDatabase(address, CONNECTIONS, (message) =>
    tell?.(message === null ? 'The database is back.' : `${message} Waiting for it.`),
  );
  try {
    const begin = async (): Promise<void> => {
      await checkSchema(database);
      await database.readClock();
    };
    await (waitAtMostMs > 0 ? database.whenReachable(begin, { atMostMs: waitAtMostMs }) : begin());
  } catch (error) {
    await database.close();
    throw error;
  }
  const reader = createDatabaseReader(database);
  return {
    name: database.name,
    reader,
    start(path, request) {
      tell = request.warn ?? warn;
      return startRun(database, path, request);
    },
    async resume(runRef, request) {
      tell = request.warn ?? warn;
      const id = await database.whenReachable(() => reader.resolveRunId(runRef));
      return resumeRun(database, id, request);
    },
    async stop(runRef, request) {
      return stopDatabaseRun(database, reader, await reader.resolveRunId(runRef), request);
    },
    prunePlace: createDatabasePrunePlace(database, reader),
    findWorktrees: (run) => findDatabaseWorktrees(reader, run),
    close: reader.close,
  };
}

const CONNECTIONS = 4;

async function startRun(database: Database, path: string, request: DatabaseRunRequest): Promise<RunHandle> {
  const composed = await composeRun(path, { ...request, attended: true }, PRODUCTION);
  const { events, workflow } = composed;
  // Where agents work together is decided by the worker that gets the run.
  const run: Run = { ...composed.run, workFolders: null };
  const packed = await packWorkflow(workflow);
  const rows = {
    workflow: packed.hash,
    workflowPath: packed.path,
    labels: request.labels,
    mark: randomBytes(8).toString('hex'),
  };
  await withQueues(database, async (queues) => {
    try {
      await database.transaction(async (client) => {
        await client.query(KEEP_WORKFLOWS);
        const storeWorkflow = 'insert into raymond.workflows (hash, archive) values ($1, $2) on conflict do nothing';
        await client.query(withTime(storeWorkflow, [packed.hash, packed.archive]));
        await insertRun(client, run, events, rows);
        const wanted = { run: run.id, life: 1, options: {}, retry: false };
        await client.query('update raymond.runs set request = $2 where id = $1', [run.id, JSON.stringify(wanted)]);
        await queues.add(client, wanted, { name: 'place', attempt: 1 });
      });
    } catch (error) {
      // A start whose answer was lost is tried again: if the run is there, it counts.
      const isOurs = 'select 1 from raymond.runs where id = $1 and mark = $2';
      if ((await database.query(isOurs, [run.id, rows.mark])).length === 0) throw error;
    }
  });
  return followDatabaseRun(database, { initial: run, fromSeq: 0, life: 1 }, request);
}

/** Lets a run go on. One that a worker drives already is only followed. */
async function resumeRun(database: Database, id: string, request: ResumeRequest): Promise<RunHandle> {
  const { retry = false, cwd = process.cwd() } = request;
  const { run } = await database.whenReachable(() => loadRunRows(database, id));
  if (run.status !== 'running' && !canResume(run, retry)) return createEndedHandle(run, []);
  const options = withAbsoluteRoot(request.options ?? {}, resolve(cwd));
  const asked = randomUUID();
  const life = await withQueues(database, (queues) =>
    database.transaction(async (client) => {
      const { rows } = await client.query<RequestedRow>(
        'select life, begun, status, request from raymond.runs where id = $1 for update',
        [id],
      );
      const [row] = rows;
      if (row === undefined) throw new RaymondError(`no such run: ${id}`, { exitCode: EXIT.usage });
      if (row.begun < row.life || row.status === 'running') {
        const isOurs = row.request?.asked === asked;
        if (!isOurs && (retry || Object.keys(options).length > 0)) throw isRunningError(id);
        return row.life;
      }
      const wanted: DriveRequest = { run: id, life: row.life + 1, options, retry, asked };
      await client.query(
        `update raymond.runs set life = life + 1, status = 'running', stop = null, request = $2, updated_at = now()
         where id = $1`,
        [id, JSON.stringify(wanted)],
      );
      await queues.add(client, wanted, { name: 'place', attempt: 1 });
      return wanted.life;
    }),
  );
  return followDatabaseRun(database, { initial: run, fromSeq: run.seq + 1, life }, request);
}

interface RequestedRow {
  readonly life: number;
  readonly begun: number;
  readonly status: string;
  readonly request: DriveRequest | null;
}

const isRunningError = (id: string): RaymondError =>
  new RaymondError(`The run ${id} is running: options and --retry have no effect on it.`, {
    exitCode: EXIT.usage,
    hint: `Stop it first: \`raymond stop ${id}\`. Without them, \`raymond resume ${id}\` follows it.`,
  });

/** Does something with the queues that may be done twice, and waits for the database if it cannot be reached. */
const withQueues = <T>(database: Database, action: (queues: QueueClient) => Promise<T>): Promise<T> =>
  database.whenReachable(async () => {
    const queues = await QueueClient.open(database);
    try {
      return await action(queues);
    } finally {
      await queues.close().catch(() => {});
    }
  });
