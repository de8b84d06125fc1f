import { setTimeout as delay } from 'node:timers/promises';
import type { Run } from '../core/run.ts';
import { initialEvents } from '../core/step.ts';
import { errorMessageOf, RaymondError } from '../errors.ts';
import { continueRun } from '../runtime/resume.ts';
import type { Runtime } from '../runtime/run-context.ts';
import type { RunHandle } from '../runtime/run-handle.ts';
import { TakenOverError } from '../store/opened-run.ts';
import type { StopMode } from '../store/stop-request.ts';
import { createConversationCopies } from './conversation-rows.ts';
import type { Database } from './database.ts';
import { openDatabaseStore } from './database-store.ts';
import { endLeftoversOf } from './leftovers.ts';
import type { DriveRequest } from './queues.ts';
import { openRunHere, type WorkerContext, type WorkflowColumns } from './run-here.ts';
import { TravellingRun } from './travelling-run.ts';
import { createDatabaseWords } from './worker-words.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Drives a run until it has ended, or `lost` is aborted because another worker drives it. True if it has ended here; false if it is
 * for another process to go on with it.
 */
export async function driveRun(request: DriveRequest, worker: WorkerContext, lost: AbortSignal): Promise<boolean> {
  const { run: id } = request;
  const { database } = worker;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      const handle = await openRun(request, worker, lost);
      if (handle === null) return true;
      const { status } = await handle.finished;
      if (status === 'running') return false;
      await database.whenReachable(() => noteEnd(database, request, status));
      return true;
    } catch (error) {
      if (error instanceof TakenOverError) {
        worker.warn(`${id} is driven by another worker now`);
        // If it was given to another one, its entry here is over; else another process has the name of this worker, and the entry.
        const moved = await database.whenReachable(() => hasMoved(database, request));
        if (moved) await endLeftoversOf(worker, id).catch(() => {});
        return moved;
      }
      // Such as a full disk: nothing is lost, because the database has all that was saved.
      const reason = describeError(error);
      worker.warn(`${id} could not go on, and is tried again in ${waitMs / 1000} s: ${reason}`);
      await noteWait(worker, id, reason).catch(() => {});
      await Promise.race([delay(waitMs), onceAborted(worker.leaving), onceAborted(lost)]);
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
const noteWait = ({ database, name }: WorkerContext, id: string, reason: string): Promise<unknown> =>
  database.query('update raymond.runs set waits_for = $2 where id = $1 and driver = $3', [
    id,
    `its worker: ${reason}`,
    name,
  ]);

/** A run that could not go on has not saved anything, and was taken for running since it was asked to. */
const noteEnd = (database: Database, { run, life }: DriveRequest, status: string): Promise<unknown> =>
  database.query('update raymond.runs set status = $3 where id = $1 and life = $2', [run, life, status]);

/** Whether a run was given to another worker since it was given to this one. */
async function hasMoved(database: Database, { run, move = 0 }: DriveRequest): Promise<boolean> {
  const row = await readRow(database, run);
  return row === undefined || row.move > move;
}

/** Takes a run up; null if it has ended already, or has moved. */
async function openRun(request: DriveRequest, worker: WorkerContext, lost: AbortSignal): Promise<RunHandle | null> {
  const { database, requests, layout, env, bootId, travel } = worker;
  const { run: id, life, move = 0, from } = request;
  const row = await database.whenReachable(() => readRow(database, id));
  if (row === undefined || row.life > life || row.move > move || (row.begun >= life && row.status !== 'running'))
    return null;
  const { adapt, runtimeOf } = await openRunHere(worker, id, row);
  const begin = (run: Run): Run => ({
    ...adapt(run),
    // Its first worker is where a run begins; an agent that is forked stays with its parent.
    agents: run.agents.map((agent) => (agent.home === null ? { ...agent, home: worker.name } : agent)),
  });
  let seenGaps = worker.countGaps();
  const requestedStop = (): StopMode | null => requests.stopOf(id);
  const { run, store, epoch, formerBootId } = await database.whenReachable(() =>
    openDatabaseStore(database, id, { bootId, requestedStop, adapt: begin, move, worker: worker.name }),
  );
  const isFirstTime = row.begun < life;
  const whenLost = (isFirstTime ? request.options.whenLost : undefined) ?? run.options.whenLost;
  const retry = isFirstTime && request.retry;
  const sentBefore = await travel.findSent(id);
  const failed = new AbortController();
  const runtime: Runtime = {
    ...runtimeOf(run),
    lost: AbortSignal.any([lost, failed.signal]),
    copies: createConversationCopies(database, id, worker.name, worker.warn, epoch),
    async beforeStart() {
      lost.throwIfAborted();
      const gaps = worker.countGaps();
      if (gaps === seenGaps) return;
      const now = await database.whenReachable(() => readRow(database, id));
      if (now?.epoch !== epoch) throw new TakenOverError(id);
      seenGaps = gaps;
    },
  };
  let travelling: TravellingRun | undefined;
  const spread: Runtime['wrapWorld'] = (world, send, killed) => {
    const here = runtime.wrapWorld(world, send, killed);
    const known = { initial: run, whenLost, sentBefore, formerBootId, retry, life };
    travelling = new TravellingRun(travel, { ...known, world, here, send });
    return travelling;
  };
  const words = createDatabaseWords(database, requests, id);
  const canReach = (agent: string): boolean => travelling?.canReach(agent) ?? false;
  const handle = await continueRun(
    {
      run,
      store,
      damage: [],
      layout,
      env,
      changes: isFirstTime ? request.options : {},
      retry,
      ...(from !== undefined &&
        row.announced < move && { notice: `the worker ${from} is gone: ${worker.name} drives the run from now on` }),
      ...(life === 1 && isFirstTime && run.seq === 0 && { firstEvents: initialEvents(run) }),
    },
    { attended: true },
    { ...runtime, createWords: () => ({ ...words, canReach }), wrapWorld: spread },
  );
  const stopWaiting = (): void => travelling?.close();
  handle.finished.then(stopWaiting, stopWaiting);
  // Before anything is begun: the next look for requests may come too late.
  if (row.stop !== null) handle.stop();
  try {
    await database.whenReachable(() =>
      database.query('update raymond.runs set begun = $2, announced = $3 where id = $1', [id, life, move]),
    );
  } catch (error) {
    // It is opened again, and has one driver at a time also within this process.
    failed.abort(error);
    await handle.finished.catch(() => {});
    throw error;
  }
  return handle;
}

interface RunRow extends WorkflowColumns {
  readonly status: string;
  readonly life: number;
  readonly begun: number;
  readonly move: number;
  readonly announced: number;
  readonly epoch: number;
  readonly stop: string | null;
}

async function readRow(database: Database, id: string): Promise<RunRow | undefined> {
  const [row] = await database.query<RunRow>(
    'select status, life, begun, move, announced, epoch, stop, workflow, workflow_path, mark from raymond.runs where id = $1',
    [id],
  );
  return row;
}
