import { randomBytes, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Launcher, LaunchRequest, RunPlace, WithWarnings } from '../app/launcher.ts';
import type { ResumeRequest } from '../app/resume.ts';
import { composeRun } from '../app/start.ts';
import type { Run } from '../core/run/run.ts';
import { canResume } from '../core/signals/resumed.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { createDatabaseBlobs, workflowKey } from '../storage/postgres/blobs.ts';
import { createDatabaseCatalog } from '../storage/postgres/catalog.ts';
import { type Database, openDatabase, withTimeout } from '../storage/postgres/database.ts';
import { createDatabaseInbox } from '../storage/postgres/inbox.ts';
import { createDatabaseJournal } from '../storage/postgres/journal.ts';
import { createDatabaseOutput } from '../storage/postgres/output.ts';
import { insertRun, loadRunRows } from '../storage/postgres/run-rows.ts';
import { checkSchema } from '../storage/postgres/schema.ts';
import type { RunStorage } from '../storage/storage.ts';
import { PRODUCTION } from '../wiring/run-context.ts';
import { createEndedHandle, type RunHandle } from '../wiring/run-handle.ts';
import { withAbsoluteRoot } from '../wiring/run-workflows.ts';
import { createDatabaseWorktreePool } from './database-worktree-pool.ts';
import { followDatabaseRun } from './follow-run.ts';
import { listNodes } from './node-name.ts';
import { type DriveRequest, QueueClient } from './queues.ts';
import { KEEP_WORKFLOWS, removeRunRows } from './removals.ts';
import { stopDatabaseRun } from './stop-run.ts';
import { packWorkflow, UnpackedWorkflows } from './workflow-archive.ts';

/** How to open the runs of a database. */
interface OpenRequest extends WithWarnings {
  /** For how long to wait if it cannot be reached from the first; by default not at all. */
  readonly waitAtMostMs?: number;
}

/** Opens the runs of a database that is prepared for them. `warn` hears a sentence while the database cannot be reached, and once it can again. */
export async function openDatabaseStorage(
  address: string,
  { warn, waitAtMostMs = 0 }: OpenRequest = {},
): Promise<RunPlace> {
  let tell = warn;
  const database = await openDatabase(address, CONNECTIONS, (message) =>
    tell?.(message === null ? 'The database is back.' : `${message} Waiting for it.`),
  );
  try {
    const begin = async (): Promise<void> => {
      await checkSchema(database);
      await database.readClock();
    };
    await (waitAtMostMs > 0 ? database.retryUntilReachable(begin, { atMostMs: waitAtMostMs }) : begin());
  } catch (error) {
    await database.close();
    throw error;
  }
  const storage = createDatabaseStorage(database);
  const launcher: Launcher = {
    isLocal: false,
    detachFlag: '--detach',
    start(path, request) {
      tell = request.warn ?? warn;
      return startRun(database, path, request);
    },
    async resume(runRef, request) {
      tell = request.warn ?? warn;
      const id = await database.retryUntilReachable(() => storage.runs.resolve(runRef));
      return resumeRun(database, id, request);
    },
    async rerun(runRef) {
      throw new RaymondError(
        `The run ${await storage.runs.resolve(runRef)} is in a database, where no run can be run again yet.`,
        {
          exitCode: EXIT.usage,
          hint: 'Start it anew, or resume it.',
        },
      );
    },
    async stop(runRef, request) {
      return stopDatabaseRun(database, storage, await storage.runs.resolve(runRef), request);
    },
    // A run whose node is gone is given to another one.
    findCrashed: async () => [],
    worktrees: createDatabaseWorktreePool(database, storage),
    snapshots: null,
    listNodes: () => listNodes(database, storage.runs),
  };
  return { storage, launcher };
}

/** The runs of a database. */
export function createDatabaseStorage(database: Database): RunStorage {
  const workflows = new UnpackedWorkflows(database);
  return {
    name: database.name,
    clock: database.clock,
    runs: createDatabaseCatalog(database, {
      findWorkflow: ({ id }) => workflows.find(id),
      remove: (id) => removeRunRows(database, id),
    }),
    journal: createDatabaseJournal(database),
    inbox: createDatabaseInbox(database),
    blobs: createDatabaseBlobs(database),
    output: createDatabaseOutput(database),
    async close() {
      workflows.close();
      await database.close();
    },
  };
}

const CONNECTIONS = 4;

async function startRun(database: Database, path: string, request: LaunchRequest): Promise<RunHandle> {
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
        const storeWorkflow = 'insert into raymond.blobs (key, bytes) values ($1, $2) on conflict do nothing';
        await client.query(withTimeout(storeWorkflow, [workflowKey(packed.hash), packed.archive]));
        await insertRun(client, run, events, rows);
        const wanted = { run: run.id, generation: 1, options: {}, retry: false };
        await client.query('update raymond.runs set request = $2 where id = $1', [run.id, JSON.stringify(wanted)]);
        await queues.add(client, wanted, { name: 'place', attempt: 1 });
      });
    } catch (error) {
      // A start whose answer was lost is tried again: if the run is there, it counts.
      const isOurs = 'select 1 from raymond.runs where id = $1 and mark = $2';
      if ((await database.query(isOurs, [run.id, rows.mark])).length === 0) throw error;
    }
  });
  return followDatabaseRun(database, { initial: run, fromSeq: 0, generation: 1 }, request);
}

/** Lets a run continue. One that a worker drives already is only followed. */
async function resumeRun(database: Database, id: string, request: ResumeRequest): Promise<RunHandle> {
  const { retry = false, cwd = process.cwd() } = request;
  const { run } = await database.retryUntilReachable(() => loadRunRows(database, id));
  if (run.status !== 'running' && !canResume(run, retry)) return createEndedHandle(run, []);
  const options = withAbsoluteRoot(request.options ?? {}, resolve(cwd));
  const asked = randomUUID();
  const generation = await withQueues(database, (queues) =>
    database.transaction(async (client) => {
      const { rows } = await client.query<RequestedRow>(
        'select generation, begun, status, request from raymond.runs where id = $1 for update',
        [id],
      );
      const [row] = rows;
      if (row === undefined) throw new RaymondError(`no such run: ${id}`, { exitCode: EXIT.usage });
      if (row.begun < row.generation || row.status === 'running') {
        const isOurs = row.request?.asked === asked;
        if (!isOurs && (retry || Object.keys(options).length > 0)) throw isRunningError(id);
        return row.generation;
      }
      const wanted: DriveRequest = {
        run: id,
        generation: row.generation + 1,
        options,
        retry,
        asked,
        ...(request.acceptChangedCode === true && { acceptsChangedCode: true }),
      };
      await client.query(
        `update raymond.runs set generation = generation + 1, status = 'running', request = $2, updated_at = now()
         where id = $1`,
        [id, JSON.stringify(wanted)],
      );
      await queues.add(client, wanted, { name: 'place', attempt: 1 });
      return wanted.generation;
    }),
  );
  return followDatabaseRun(database, { initial: run, fromSeq: run.seq + 1, generation }, request);
}

interface RequestedRow {
  readonly generation: number;
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
  database.retryUntilReachable(async () => {
    const queues = await QueueClient.open(database);
    try {
      return await action(queues);
    } finally {
      await queues.close().catch(() => {});
    }
  });
