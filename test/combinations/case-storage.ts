import { continueRun, type ResumeRequest, resumeRunWith } from '../../src/app/resume.ts';
import { composeRun, type RunRequest, startRunWith } from '../../src/app/start.ts';
import { createDatabaseStorage } from '../../src/cluster/database-storage.ts';
import { initDatabase } from '../../src/cluster/init-database.ts';
import type { Run } from '../../src/core/run/run.ts';
import { findLayout } from '../../src/disk/layout.ts';
import { type Database, openDatabase } from '../../src/storage/postgres/database.ts';
import { createDatabaseLeases, type DatabaseLeases } from '../../src/storage/postgres/lease.ts';
import { Requests } from '../../src/storage/postgres/request-poll.ts';
import type { RunStorage } from '../../src/storage/storage.ts';
import type { RequestStorage } from '../../src/wiring/request-handler.ts';
import { openFileRequests, type Runtime } from '../../src/wiring/run-context.ts';
import type { RunHandle } from '../../src/wiring/run-handle.ts';
import { PostgresServer } from '../postgres/server.ts';
import { storageIn } from '../storage/files/open-files.ts';

/** Keeps the run of a case, and lets processes drive it. */
export interface CaseStorage {
  readonly storage: RunStorage;
  /** Where people put their requests. */
  readonly requests: RequestStorage;
  start(path: string, request: RunRequest, runtime: Runtime): Promise<RunHandle>;
  resume(run: string, request: ResumeRequest, runtime: Runtime): Promise<RunHandle>;
}

/** Keeps the run of a case in the files of its project. */
export const keepInFiles = (project: string): CaseStorage => ({
  storage: storageIn(project),
  requests: openFileRequests(findLayout(project), false),
  start: startRunWith,
  resume: resumeRunWith,
});

const NODE = 'one';

/** A PostgreSQL for the cases that are kept in a database, one after the other. It is started for the first of them. */
export class CaseDatabase {
  private server: PostgresServer | undefined;
  private opened: Database | undefined;

  /** Keeps the run of a case there. */
  async keep(project: string): Promise<CaseStorage> {
    this.opened ??= await this.open();
    const database = this.opened;
    await database.query('truncate raymond.runs, raymond.nodes, raymond.blobs cascade');
    return keepInDatabase(database, project);
  }

  async close(): Promise<void> {
    await this.opened?.close();
    await this.server?.stop();
  }

  private async open(): Promise<Database> {
    this.server = await PostgresServer.start();
    const database = await openDatabase(await this.server.createDatabase());
    await initDatabase(database);
    return database;
  }
}

/** Drives runs as a node of a fleet does, which has the workflow already and takes every turn itself. */
function keepInDatabase(database: Database, project: string): CaseStorage {
  const layout = findLayout(project);
  const storage = createDatabaseStorage(database);
  let requests = new Requests(database, NODE);
  const place: RequestStorage = {
    // Nobody waits for the next poll.
    inbox: {
      ...storage.inbox,
      async put(run, request) {
        const isFirst = await storage.inbox.put(run, request);
        await requests.pollRun(run);
        return isFirst;
      },
    },
    blobs: storage.blobs,
    async *readEvents(run) {
      for await (const { change } of storage.journal.read(run)) yield* change.events;
    },
  };
  const adapt = (run: Run): Run => ({
    ...run,
    workFolders: layout.workFolders(run.id, run.options.taskFolderPattern),
    agents: run.agents.map((agent) => ({ ...agent, node: agent.node ?? NODE })),
  });
  // Each process has its own view of the requests.
  const openLeases = (): DatabaseLeases => {
    requests = new Requests(database, NODE);
    const node = { name: NODE, bootId: 'test machine', countMissedHeartbeats: () => 0 };
    return createDatabaseLeases(database, { node, adapt, requests });
  };
  const onNode = (runtime: Runtime): Runtime => ({ ...runtime, openRequests: () => place, home: NODE });
  return {
    storage,
    requests: place,
    async start(path, request, runtime) {
      const { run, events, env } = await composeRun(path, request, runtime);
      const lease = await openLeases().create({ run: { ...run, workFolders: null }, events });
      const opened = { lease, layout, env, changes: {}, retry: false, firstEvents: events };
      return continueRun(opened, request, onNode(runtime));
    },
    async resume(id, request, runtime) {
      const { env = process.env, options = {}, retry = false } = request;
      // A run that was killed has the same generation on its next node.
      await database.query(
        `update raymond.runs set generation = generation + 1, status = 'running' where id = $1 and status <> 'running'`,
        [id],
      );
      const lease = await openLeases().acquire(id);
      return continueRun({ lease, layout, env, changes: options, retry }, request, onNode(runtime));
    },
  };
}
