import { setTimeout as delay } from 'node:timers/promises';
import type * as dbos from '@dbos-inc/dbos-sdk';
import type { DBOSClient } from '@dbos-inc/dbos-sdk';
import type { ClientBase, PoolClient } from 'pg';
import type { Options } from '../core/options/options.ts';
import type { WorktreeTransfer } from '../core/turns/worktree-turns.ts';
import { errorMessageOf } from '../errors.ts';
import { type Database, explainMissing, openDatabase, soundsUnreachable } from '../storage/postgres/database.ts';
import type { RemoteTurn } from '../storage/postgres/remote-turn-rows.ts';
import { DBOS_SCHEMA, SCHEMA_VERSION } from '../storage/postgres/schema.ts';

/*
 * Raymond needs durable queues from DBOS: one node takes each entry, and takes it again after a crash.
 *
 * 1. `drivers` holds runs that need a worker. Any worker takes them, and only decides which one gets the run (`place`).
 * 2. `d:NAME` holds the runs of one worker. It drives them (`drive`), until they have ended. The conversations and folders of a run
 *    are there; if it is gone, the run moves to another queue (`sweep-runs.ts`).
 * 3. `w:NAME` holds the turns that one worker takes for runs that others drive (`turn`).
 * 4. An entry has the id of what it is for, so that it exists once, however often it is asked for. A resumed run has a new generation.
 * 5. The loop that drives a run is not replayed: `drive` is one step, and DBOS is used in it only through a client.
 * 6. What a zombie returns would count as the end of its entry. A driver that has lost its run never returns.
 */

/** A run that is to be driven: since its start or a resume, which is its generation. */
export interface DriveRequest {
  readonly run: string;
  readonly generation: number;
  /** Options that change with this generation. */
  readonly options: Partial<Options>;
  readonly retry: boolean;
  /** True if a person has resumed it, who accepts changed code that it has told of; left out for no. */
  readonly acceptsChangedCode?: boolean;
  /** How often it was given to another worker, because its own was gone; left out for never. */
  readonly move?: number;
  /** The worker that it had before the last time. */
  readonly from?: string;
  /** Tells who has asked for it, in case that the answer to that is lost. */
  readonly asked?: string;
}

/** A turn that another worker takes than the one that drives its run. */
export interface QueuedTurn extends RemoteTurn {
  /** True if the user wants turns to be taken that may have run already. */
  readonly retry: boolean;
  /** The generation of its run. */
  readonly generation: number;
  /** The part of a turn about a worktree that is to be taken; left out for all of it. */
  readonly transfer?: WorktreeTransfer;
}

/** The entry of a queue. */
type QueuedWork =
  | { readonly name: 'place'; readonly attempt: number }
  | { readonly name: 'drive'; readonly worker: string };

const APPLICATION = 'raymond';
/** Recovery takes only what was queued by the same version of our rows. */
const VERSION = `rows-${SCHEMA_VERSION}`;
const DRIVERS = 'drivers';
const RETRY_PLACING_AFTER_S = 2;
const POLL_INTERVAL_MS = 100;
const CONNECTIONS = 10;

const queueOf = (worker: string): string => `d:${worker}`;
const turnQueueOf = (worker: string): string => `w:${worker}`;

/** A run that has moved has another entry: that of before stays with a worker that is gone, and means nothing to it later. */
const driveId = ({ run, generation, move = 0 }: DriveRequest): string =>
  `${run}/drive/${generation}${move === 0 ? '' : `/${move}`}`;

const placeId = ({ run, generation }: DriveRequest, attempt: number): string => `${run}/place/${generation}/${attempt}`;

const queuesOf = (worker: string): readonly string[] => [DRIVERS, queueOf(worker), turnQueueOf(worker)];

const turnId = ({ run, agent, turn, node }: RemoteTurn): string => `${run}/turn/${agent}/${turn}/${node}`;

/** Puts work into the queues. */
export class QueueClient {
  private readonly client: DBOSClient;

  private constructor(client: DBOSClient) {
    this.client = client;
  }

  static async open({ address, pool }: Database): Promise<QueueClient> {
    const { DBOSClient } = await loadDbos();
    const client = await DBOSClient.create({
      systemDatabaseUrl: address,
      systemDatabasePool: pool,
      systemDatabaseSchemaName: DBOS_SCHEMA,
      applicationName: APPLICATION,
      logger: SILENT,
    });
    return new QueueClient(client);
  }

  /** Adds an entry as a part of a transaction; one that is there already is left alone. */
  async add(transaction: ClientBase, request: DriveRequest, work: QueuedWork): Promise<void> {
    const isPlace = work.name === 'place';
    await this.client.enqueueInTransaction(
      transaction,
      {
        workflowName: work.name,
        queueName: isPlace ? DRIVERS : queueOf(work.worker),
        workflowID: isPlace ? placeId(request, work.attempt) : driveId(request),
        appVersion: VERSION,
        ...(isPlace && work.attempt > 1 && { delaySeconds: RETRY_PLACING_AFTER_S }),
      },
      ...(isPlace ? [request, work.attempt] : [request]),
    );
  }

  /** Removes the entry of an earlier attempt to place a run, of which there may be thousands while nobody can take it. */
  async forgetPlace(request: DriveRequest, attempt: number): Promise<void> {
    await this.client.deleteWorkflow(placeId(request, attempt));
  }

  /** Removes all entries of a run that is gone. */
  async forgetRun(run: string): Promise<void> {
    const prefix = `${run}/`;
    const entries = await this.client.listWorkflows({
      workflow_id_prefix: prefix,
      loadInput: false,
      loadOutput: false,
    });
    const ids = entries.map(({ workflowID }) => workflowID);
    // An underscore in the prefix has found any letter there.
    await this.client.deleteWorkflows(ids.filter((id) => id.startsWith(prefix)));
  }

  /** Puts the entry of a run back into the queue of its worker: it was taken by a process that may not drive the run. */
  async putBack(request: DriveRequest, worker: string): Promise<void> {
    await this.client.resumeWorkflow(driveId(request), { queueName: queueOf(worker) });
  }

  /** Adds a turn to the queue of the worker that is to take it, as a part of a transaction; one that is there is left alone. */
  async addTurn(transaction: PoolClient, turn: QueuedTurn): Promise<void> {
    const entry = { queueName: turnQueueOf(turn.node), workflowID: turnId(turn), appVersion: VERSION };
    await this.client.enqueueInTransaction(transaction, { workflowName: 'turn', ...entry }, turn);
  }

  /** Puts a turn back into its queue: it was taken by a process that has no right to it. */
  async putTurnBack(turn: RemoteTurn): Promise<void> {
    await this.client.resumeWorkflow(turnId(turn), { queueName: turnQueueOf(turn.node) });
  }

  /** Makes the queues that a worker serves. */
  async register(worker: string): Promise<void> {
    for (const queue of queuesOf(worker))
      await this.client.registerQueue(queue, { minPollingIntervalMs: POLL_INTERVAL_MS });
  }

  /** Removes the queues that only one worker serves, until it makes them again; what is in them stays. */
  async forgetWorker(worker: string): Promise<void> {
    for (const queue of [queueOf(worker), turnQueueOf(worker)]) await this.client.deleteQueue(queue);
  }

  async close(): Promise<void> {
    await this.client.destroy();
  }
}

/** The handlers of a node's queues. */
export interface QueueHandlers {
  readonly place: (request: DriveRequest, attempt: number) => Promise<void>;
  readonly drive: (request: DriveRequest) => Promise<void>;
  readonly turn: (turn: QueuedTurn) => Promise<void>;
}

/** Serves the queues of a worker, whose name nobody else may have; first comes what it had begun before a crash. */
export async function serveQueues(
  database: Database,
  worker: string,
  { place, drive, turn }: QueueHandlers,
  warn: (message: string) => void,
): Promise<{ readonly stop: () => Promise<void> }> {
  const { DBOS } = await loadDbos();
  const recovery = { maxRecoveryAttempts: 1_000_000 };
  const register = <Args extends unknown[]>(name: string, handle: (...args: Args) => Promise<void>): unknown =>
    DBOS.registerWorkflow(handle, { name, ...recovery });
  register('place', (request: DriveRequest, attempt: number) => untilDone(() => place(request, attempt), warn));
  register('turn', (queued: QueuedTurn) => untilDone(() => turn(queued), warn));
  register('drive', (request: DriveRequest) =>
    DBOS.runStep(() => untilDone(() => drive(request), warn), { name: 'drive' }),
  );
  // A pool of ours: whatever breaks in it is caught, and the settings of its connections need no statement of their own.
  const { pool } = await openDatabase(database.address, CONNECTIONS);
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: database.address,
    systemDatabasePool: pool,
    systemDatabaseSchemaName: DBOS_SCHEMA,
    executorID: worker,
    applicationVersion: VERSION,
    listenQueues: [...queuesOf(worker)],
    runMigrations: false,
    logger: {
      ...SILENT,
      error(entry) {
        // That the database is away is said once, by us.
        const text = String(entry);
        if (!soundsUnreachable(text)) warn(`DBOS: ${text.split('\n', 1)[0]}`);
      },
    },
  });
  await database.retryUntilReachable(async () => {
    try {
      await DBOS.launch();
    } catch (error) {
      await DBOS.shutdown().catch(nothing);
      throw error;
    }
  });
  return { stop: () => DBOS.shutdown() };
}

/** Does something again until it succeeds: an entry whose handler throws is over for good. */
async function untilDone(handle: () => Promise<void>, warn: (message: string) => void): Promise<void> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await handle();
    } catch (error) {
      warn(`${errorMessageOf(error)} It is tried again in ${waitMs / 1000} s.`);
      await delay(waitMs);
    }
  }
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

const nothing = (): void => {};

/** The log of DBOS is for its developers. */
const SILENT = { info: nothing, debug: nothing, warn: nothing, error: nothing };

/** Loads DBOS, which is installed only by those who use a database. */
export const loadDbos = (): Promise<typeof dbos> =>
  import('@dbos-inc/dbos-sdk').catch((cause) => Promise.reject(explainMissing('@dbos-inc/dbos-sdk', cause)));
