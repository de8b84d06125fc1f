import { setTimeout as delay } from 'node:timers/promises';
import { continueRun } from '../app/resume.ts';
import type { Run } from '../core/run/run.ts';
import { initialEvents } from '../core/step.ts';
import { errorMessageOf, RaymondError } from '../errors.ts';
import { LeaseLostError } from '../storage/opened-run.ts';
import type { Database } from '../storage/postgres/database.ts';
import { createDatabaseLeases } from '../storage/postgres/lease.ts';
import type { Runtime } from '../wiring/run-context.ts';
import type { RunHandle } from '../wiring/run-handle.ts';
import { createConversationCopies, type NodeContext, openRunHere, type WorkflowColumns } from './node-run.ts';
import { endOrphanedTurnsOf } from './orphaned-turns.ts';
import type { DriveRequest } from './queues.ts';
import { RemoteWorld } from './remote-world.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Drives a run until it has ended, or `lost` is aborted because another worker drives it. True if it has ended here; false if it is
 * for another process to continue with it.
 */
export async function driveRun(request: DriveRequest, worker: NodeContext, lost: AbortSignal): Promise<boolean> {
  const { run: id } = request;
  const { database } = worker;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      const handle = await openRun(request, worker, lost);
      if (handle === null) return true;
      const { status } = await handle.finished;
      if (status === 'running') return false;
      await database.retryUntilReachable(() => recordEnd(database, request, status));
      return true;
    } catch (error) {
      if (error instanceof LeaseLostError) {
        worker.warn(`${id} is driven by another worker now`);
        // If it was given to another one, its entry here is over; else another process has the name of this worker, and the entry.
        const moved = await database.retryUntilReachable(() => hasMoved(database, request));
        if (moved) await endOrphanedTurnsOf(worker, id).catch(() => {});
        return moved;
      }
      // Such as a full disk: nothing is lost, because the database has all that was saved.
      const reason = describeError(error);
      worker.warn(`${id} could not continue, and is tried again in ${waitMs / 1000} s: ${reason}`);
      await recordWait(worker, id, reason).catch(() => {});
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

/** Notes in the run why its worker cannot continue with it. */
const recordWait = ({ database, name }: NodeContext, id: string, reason: string): Promise<unknown> =>
  database.query('update raymond.runs set waits_for = $2 where id = $1 and driver = $3', [
    id,
    `its worker: ${reason}`,
    name,
  ]);

/** A run that could not continue has not saved anything, and was taken for running since it was asked to. */
const recordEnd = (database: Database, { run, generation }: DriveRequest, status: string): Promise<unknown> =>
  database.query('update raymond.runs set status = $3 where id = $1 and generation = $2', [run, generation, status]);

/** True if a run was given to another worker since it was given to this one. */
async function hasMoved(database: Database, { run, move = 0 }: DriveRequest): Promise<boolean> {
  const row = await readRow(database, run);
  return row === undefined || row.move > move;
}

/** Takes a run up; null if it has ended already, or has moved. */
async function openRun(request: DriveRequest, worker: NodeContext, lost: AbortSignal): Promise<RunHandle | null> {
  const { database, requests, layout, env, travel } = worker;
  const { run: id, generation, move = 0, from } = request;
  const row = await database.retryUntilReachable(() => readRow(database, id));
  if (
    row === undefined ||
    row.generation > generation ||
    row.move > move ||
    (row.begun >= generation && row.status !== 'running')
  )
    return null;
  const { adapt, runtimeOf } = await openRunHere(worker, id, row);
  const begin = (run: Run): Run => ({
    ...adapt(run),
    // Its first worker is where a run begins; an agent that is forked stays with its parent.
    agents: run.agents.map((agent) => (agent.node === null ? { ...agent, node: worker.name } : agent)),
  });
  const failed = new AbortController();
  const lease = await createDatabaseLeases(database, {
    node: worker,
    adapt: begin,
    lost: AbortSignal.any([lost, failed.signal]),
    requests,
  }).acquire(id, { move });
  const { run, epoch, formerBootId } = lease;
  const isFirstTime = row.begun < generation;
  const whenLost = (isFirstTime ? request.options.whenLost : undefined) ?? run.options.whenLost;
  const retry = isFirstTime && request.retry;
  const sentBefore = await travel.findSent(id);
  const runtime: Runtime = {
    ...runtimeOf(run),
    copies: createConversationCopies(database, id, worker.name, worker.warn, epoch),
  };
  let travelling: RemoteWorld | undefined;
  const spread: Runtime['wrapWorld'] = (world, send, killed) => {
    const here = runtime.wrapWorld(world, send, killed);
    const known = { initial: run, whenLost, sentBefore, formerBootId, retry, generation };
    travelling = new RemoteWorld(travel, { ...known, world, here, send });
    return travelling;
  };
  const canReachElsewhere = (agent: string): boolean => travelling?.canReach(agent) ?? false;
  const handle = await continueRun(
    {
      lease,
      layout,
      env,
      changes: isFirstTime ? request.options : {},
      retry,
      // The time of its last step is known to the database alone: it accepts what the run has told of.
      acceptance: isFirstTime && request.acceptsChangedCode === true ? { lastStepMs: null } : null,
      ...(from !== undefined &&
        row.announced < move && { notice: `the worker ${from} is gone: ${worker.name} drives the run from now on` }),
      ...(generation === 1 && isFirstTime && run.seq === 0 && { firstEvents: initialEvents(run) }),
    },
    { attended: true },
    { ...runtime, canReachElsewhere, wrapWorld: spread },
  );
  const stopWaiting = (): void => travelling?.close();
  handle.finished.then(stopWaiting, stopWaiting);
  try {
    await database.retryUntilReachable(() =>
      database.query('update raymond.runs set begun = $2, announced = $3 where id = $1', [id, generation, move]),
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
  readonly generation: number;
  readonly begun: number;
  readonly move: number;
  readonly announced: number;
}

async function readRow(database: Database, id: string): Promise<RunRow | undefined> {
  const [row] = await database.query<RunRow>(
    'select status, generation, begun, move, announced, workflow, workflow_path, mark from raymond.runs where id = $1',
    [id],
  );
  return row;
}
