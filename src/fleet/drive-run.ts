import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Run } from '../core/run.ts';
import { initialEvents } from '../core/step.ts';
import type { World } from '../engine/world.ts';
import { errorMessageOf, RaymondError } from '../errors.ts';
import { continueRun } from '../runtime/resume.ts';
import { PRODUCTION, type Runtime } from '../runtime/run-context.ts';
import type { RunHandle } from '../runtime/run-handle.ts';
import type { StoreLayout } from '../store/layout.ts';
import { TakenOverError } from '../store/opened-run.ts';
import { openWorkflow } from '../workflow/workflow.ts';
import { createConversationCopies } from './conversation-rows.ts';
import type { Database } from './database.ts';
import { createDatabaseAnswers } from './database-answers.ts';
import { openDatabaseStore } from './database-store.ts';
import type { DriveRequest } from './queues.ts';
import type { Requests } from './requests.ts';
import { insertTurnFiles } from './turn-rows.ts';
import { createDatabaseWords } from './worker-words.ts';
import { relocateWorkflows, unpackWorkflow } from './workflow-archive.ts';

/** What all runs of a worker share. */
export interface WorkerContext {
  readonly name: string;
  readonly database: Database;
  readonly requests: Requests;
  /** The worker's own folder, for turns, conversations and workflows. */
  readonly layout: StoreLayout;
  readonly env: NodeJS.ProcessEnv;
  readonly bootId: string | null;
  /** Aborted when the worker is to begin nothing more. */
  readonly leaving: AbortSignal;
  readonly wrapWorld: (world: World) => World;
  readonly warn: (message: string) => void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Drives a run until it has ended. True if it has; false if it is for another process to go on with it. */
export async function driveRun(request: DriveRequest, worker: WorkerContext): Promise<boolean> {
  const { run: id } = request;
  const { database } = worker;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      const handle = await openRun(request, worker);
      if (handle === null) return true;
      const { status } = await handle.finished;
      if (status === 'running') return false;
      await database.whenReachable(() => noteEnd(database, request, status));
      return true;
    } catch (error) {
      if (error instanceof TakenOverError) {
        worker.warn(`${id} is driven by another worker now`);
        return false;
      }
      // Such as a full disk: nothing is lost, because the database has all that was saved.
      const reason = describeError(error);
      worker.warn(`${id} could not go on, and is tried again in ${waitMs / 1000} s: ${reason}`);
      await noteWait(database, id, reason).catch(() => {});
      await Promise.race([delay(waitMs), onceAborted(worker.leaving)]);
      if (worker.leaving.aborted) return false;
    }
  }
}

const onceAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

function describeError(error: unknown): string {
  const hint = error instanceof RaymondError && error.hint !== undefined ? ` ${error.hint}` : '';
  return `${errorMessageOf(error)}${hint}`;
}

/** Notes in the run why its worker cannot go on with it. */
const noteWait = (database: Database, id: string, reason: string): Promise<unknown> =>
  database.query('update raymond.runs set waits_for = $2 where id = $1', [id, `its worker: ${reason}`]);

/** A run that could not go on has not saved anything, and was taken for running since it was asked to. */
const noteEnd = (database: Database, { run, life }: DriveRequest, status: string): Promise<unknown> =>
  database.query('update raymond.runs set status = $3 where id = $1 and life = $2', [run, life, status]);

/** Takes a run up; null if it has ended already. */
async function openRun(request: DriveRequest, worker: WorkerContext): Promise<RunHandle | null> {
  const { database, requests, layout, env, bootId } = worker;
  const { run: id, life } = request;
  const row = await database.whenReachable(() => readRow(database, id));
  if (row === undefined || row.life > life || (row.begun >= life && row.status !== 'running')) return null;
  const folder = join(layout.root, 'workflows');
  const adapt = (run: Run): Run => ({
    ...run,
    // What agents share is per worker; only the paths of this one are of use here.
    workFolders: layout.workFolders(id, run.options.taskFolderPattern),
    workflows: relocateWorkflows(run.workflows, folder, row.workflow),
    // Its first worker is where a run begins; an agent that is forked stays with its parent.
    agents: run.agents.map((agent) => (agent.home === null ? { ...agent, home: worker.name } : agent)),
  });
  const { run, store } = await database.whenReachable(() =>
    openDatabaseStore(database, id, { bootId, requestedStop: () => requests.stopOf(id), adapt }),
  );
  const isFirstTime = row.begun < life;
  const path = await unpackWorkflow(folder, row.workflow, row.workflow_path, () =>
    database.whenReachable(() => readArchive(database, row.workflow)),
  );
  const runtime: Runtime = {
    ...PRODUCTION,
    openWorkflow: (_path, platform, limits = {}) =>
      openWorkflow(path, platform, { ...limits, root: join(folder, row.workflow) }),
    createAnswers: (_layout, runId, { clock, warn }) =>
      createDatabaseAnswers(database, requests, runId, { clock, warn }),
    createWords: (_layout, runId) => createDatabaseWords(database, requests, runId),
    historyFiles: false,
    copies: createConversationCopies(database, id, worker.name, worker.warn),
    wrapWorld: (world) => worker.wrapWorld(run.options.debug ? storeTurnFiles(world, worker, id) : world),
    leaving: worker.leaving,
  };
  const handle = await continueRun(
    {
      ...{ run, store, damage: [], layout, env },
      changes: isFirstTime ? request.options : {},
      retry: isFirstTime && request.retry,
      ...(life === 1 && isFirstTime && run.seq === 0 && { firstEvents: initialEvents(run) }),
    },
    { attended: true },
    runtime,
  );
  // Before anything is begun: the next look for requests may come too late.
  if (row.stop !== null) handle.stop();
  await database.whenReachable(() =>
    database.query('update raymond.runs set begun = $2, waits_for = null where id = $1', [id, life]),
  );
  return handle;
}

/** A world that puts what its turns were asked and said into the database, before their ends count. */
const storeTurnFiles = (world: World, { database, layout, warn }: WorkerContext, run: string): World => ({
  ...world,
  async take(turn) {
    const signal = await world.take(turn);
    if (turn.kind !== 'claude' && turn.kind !== 'script') return signal;
    await database
      .whenReachable(() => insertTurnFiles(database, run, turn, layout.turnFolder(run, turn)))
      .catch((error: unknown) => warn(`a turn of ${run} cannot be shown by logs: ${errorMessageOf(error)}`));
    return signal;
  },
});

interface RunRow {
  readonly status: string;
  readonly life: number;
  readonly begun: number;
  readonly stop: string | null;
  readonly workflow: string;
  readonly workflow_path: string;
}

async function readRow(database: Database, id: string): Promise<RunRow | undefined> {
  const [row] = await database.query<RunRow>(
    'select status, life, begun, stop, workflow, workflow_path from raymond.runs where id = $1',
    [id],
  );
  return row;
}

async function readArchive(database: Database, hash: string): Promise<Buffer> {
  const [row] = await database.query<{ archive: Buffer }>('select archive from raymond.workflows where hash = $1', [
    hash,
  ]);
  if (row === undefined) throw new Error(`the workflow ${hash} is not in the database`);
  return row.archive;
}
