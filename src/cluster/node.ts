import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { IdleLimit } from '../conversations/idle-limit.ts';
import { makePrivateFolder } from '../disk/files.ts';
import { layoutOf } from '../disk/layout.ts';
import { EXIT, errorMessageOf, RaymondError } from '../errors.ts';
import { formatDuration } from '../render/format.ts';
import { openDatabase } from '../storage/postgres/database.ts';
import { LiveOutput } from '../storage/postgres/live-output.ts';
import { deletePiecesOf } from '../storage/postgres/live-rows.ts';
import { QueuedTurns } from '../storage/postgres/remote-turn-rows.ts';
import { Requests } from '../storage/postgres/request-poll.ts';
import { checkSchema } from '../storage/postgres/schema.ts';
import { assignRun, reassignRuns } from './assign-run.ts';
import { driveRun } from './drive-run.ts';
import { GuestTurns } from './guest-turns.ts';
import { reportLostCosts } from './lost-costs.ts';
import { LostNodes } from './lost-nodes.ts';
import { acquireNodeName, type NodeName, type WorkerFacts } from './node-name.ts';
import type { NodeContext } from './node-run.ts';
import { endOrphanedTurns } from './orphaned-turns.ts';
import { type DriveRequest, QueueClient, type QueuedTurn, type QueueHandlers, serveQueues } from './queues.ts';
import { RemoteTurns } from './remote-turns.ts';
import { NodeFolders, removeGoneRuns } from './removals.ts';
import { Slots } from './slots.ts';
import { createWorktreeAnswerer } from './worktree-requests.ts';

/** How a worker is started. */
interface WorkerRequest extends WorkerFacts {
  readonly address: string;
  /** The worker's own folder: what it needs to continue with its runs is there. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (message: string) => void;
  /** Calls back on a signal to end; returns a function that stops listening. */
  readonly onInterrupt: (listener: () => void) => () => void;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const LABEL = /^[A-Za-z0-9][\w.-]*=[\w./@-]+$/;

function checkWorkerFacts({ name, slots, labels }: WorkerFacts): void {
  const refuse = (message: string): never => {
    throw new RaymondError(message, { exitCode: EXIT.usage, hint: 'See raymond node --help.' });
  };
  if (!NAME.test(name)) refuse(`--name must be letters, digits, dots, dashes and underscores, not \`${name}\``);
  if (slots < 1) refuse('--slots must be at least 1');
  for (const label of labels) if (!LABEL.test(label)) refuse(`--label must be name=value, not \`${label}\``);
}

/** The folder of a worker that names none. */
export const defaultWorkerFolder = ({ XDG_DATA_HOME, HOME }: NodeJS.ProcessEnv, name: string): string =>
  join(XDG_DATA_HOME || join(HOME || homedir(), '.local', 'share'), 'raymond', 'workers', name);

const CONNECTIONS = 10;
/** How long it takes at most, after its deadline, until a worker is known to be gone. */
const SWEEP_EVERY_MS = 2_000;
const LOOKS_FOR_LEFTOVERS = 5;
/** Longer than any save takes; what is not saved by then is found by the next start. */
const EXIT_WITHIN_MS = 2_000;

/**
 * Works until it is told to end: drives the runs that it gets. The first signal lets the running turns finish, the second leaves
 * them to the next start of the worker. Returns the exit code; the process must end then, whatever is still under way.
 */
export async function runWorker(request: WorkerRequest): Promise<number> {
  checkWorkerFacts(request);
  const { address, name, slots, labels, say } = request;
  const layout = layoutOf(join(resolve(request.folder), '.raymond'));
  const database = await openDatabase(address, CONNECTIONS, (message) =>
    say(message === null ? 'the database is back' : `${message} Waiting for it.`),
  );
  await database.retryUntilReachable(() => checkSchema(database));
  const aheadMs = await database.retryUntilReachable(() => database.readClock());
  if (Math.abs(aheadMs) > TOLD_FROM_MS) say(describeClock(aheadMs));
  let end: (exitCode: number) => void = () => {};
  const ended = new Promise<number>((done) => {
    end = done;
  });
  const leaving = new AbortController();
  const workerName = await acquireNodeName(database, request, () => {
    say(`another process has the name ${name} now: this one ends, and leaves its turns to that`);
    end(EXIT.paused);
  });
  const me = { name, token: workerName.token };
  await makePrivateFolder(layout.root, true);
  const requests = new Requests(database, name);
  const queues = await database.retryUntilReachable(() => QueueClient.open(database));
  await database.retryUntilReachable(() => deletePiecesOf(database, name));
  const liveOutput = new LiveOutput(database, name, say);
  const worker: NodeContext = {
    liveOutput,
    name,
    database,
    requests,
    layout,
    leaving: leaving.signal,
    env: request.env,
    warn: say,
    folders: new NodeFolders(layout, request.env),
    bootId: workerName.identity.bootId,
    countMissedHeartbeats: workerName.countMissedHeartbeats,
    wrapWorld: new Slots(slots, leaving.signal, database.clock, new QueuedTurns(database, name).add).wrap,
    idleLimit: new IdleLimit(slots),
    travel: new RemoteTurns(
      database,
      queues,
      { name, leaving: leaving.signal, warn: say },
      new LostNodes(database, requests, me),
    ),
  };
  const work = new QueueWork(worker, workerName, queues);
  requests.add(liveOutput.poll);
  requests.add(createWorktreeAnswerer(worker));
  await database.retryUntilReachable(() => queues.register(name));
  // Before anything starts: what is left of an earlier process may be in the way.
  await endOrphanedTurns(worker).catch((error: unknown) => say(errorMessageOf(error)));
  await reportLostCosts(worker).catch((error: unknown) => say(errorMessageOf(error)));
  const served = await serveQueues(database, name, work, say);
  requests.start();
  const stopRemoving = removeGoneRuns(database, name, worker.folders, say);
  const stopSweeping = startSweeping(worker, workerName, queues);
  let signals = 0;
  const stopListening = request.onInterrupt(() => {
    signals += 1;
    if (signals > 1) return end(EXIT.interrupted);
    say(`worker ${name} ends when ${work.isIdle ? 'nothing is under way' : 'the running turns have ended'}`);
    leave().catch((error: unknown) => say(errorMessageOf(error)));
  });
  const leave = async (): Promise<void> => {
    await workerName.leave();
    leaving.abort();
    await work.finish();
    end(EXIT.completed);
  };
  // Last: a signal that follows this message must not end the process before it gives its name up.
  const labelText = labels.length === 0 ? '' : `, ${labels.join(', ')}`;
  say(`worker ${name} is ready: ${slots} slot${slots === 1 ? '' : 's'}${labelText}, ${database.name}`);
  try {
    return await ended;
  } finally {
    stopSweeping();
    requests.close();
    stopRemoving();
    const closing = [served.stop(), workerName.release()];
    await Promise.race([Promise.allSettled(closing), new Promise((done) => setTimeout(done, EXIT_WITHIN_MS))]);
    // Not earlier: a signal that comes meanwhile must not end the process without its exit code.
    stopListening();
  }
}

const TOLD_FROM_MS = 10_000;

const describeClock = (aheadMs: number): string =>
  `the clock of this machine is ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the database: Raymond goes by the database, Claude Code and scripts go by this machine`;

/** Looks now and then for runs of workers that are gone, for the clock, and after a gap for what is left here; returns a function that ends that. */
function startSweeping(
  worker: NodeContext,
  { token, countMissedHeartbeats }: NodeName,
  queues: QueueClient,
): () => void {
  const { name, database, warn } = worker;
  let seenGaps = 0;
  let looksForLeftovers = LOOKS_FOR_LEFTOVERS;
  const sweep = async (): Promise<void> => {
    for (const { run, from, to } of await reassignRuns(database, queues, { name, token }))
      warn(`${run} is given to ${to}: its worker ${from} is gone`);
  };
  const timer = setInterval(() => {
    const gaps = countMissedHeartbeats();
    // Its agents may have continued elsewhere while it was not heard of.
    if (gaps !== seenGaps) looksForLeftovers = LOOKS_FOR_LEFTOVERS;
    seenGaps = gaps;
    if (looksForLeftovers > 0)
      endOrphanedTurns(worker)
        .then(() => reportLostCosts(worker))
        .catch(() => {});
    looksForLeftovers -= 1;
    database.readClock().catch(() => {});
    sweep().catch(() => {});
  }, SWEEP_EVERY_MS);
  return () => clearInterval(timer);
}

/** The handlers of a node's queues: it assigns runs, drives them, and takes turns for other drivers. */
class QueueWork implements QueueHandlers {
  private readonly worker: NodeContext;
  private readonly workerName: NodeName;
  private readonly queues: QueueClient;
  private readonly guestTurns: GuestTurns;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(worker: NodeContext, workerName: NodeName, queues: QueueClient) {
    this.worker = worker;
    this.workerName = workerName;
    this.queues = queues;
    this.guestTurns = new GuestTurns(worker);
    worker.requests.add(this.guestTurns.poll);
  }

  get isIdle(): boolean {
    return this.underWay.size === 0;
  }

  /** Waits until nothing is under way any more. */
  async finish(): Promise<void> {
    while (!this.isIdle) await Promise.allSettled(this.underWay);
  }

  place = (wanted: DriveRequest, attempt: number): Promise<void> =>
    assignRun(this.worker.database, this.queues, wanted, attempt);

  drive = async (wanted: DriveRequest): Promise<void> => {
    const { name, leaving, warn } = this.worker;
    // A process that stood still for long may have lost its name, and not know it yet.
    if (!(await this.workerName.isMine())) {
      await this.queues.putBack(wanted, name);
      return NEVER;
    }
    if (leaving.aborted) return NEVER;
    warn(`driving ${wanted.run}`);
    const driving = this.guestTurns.driveHere(wanted, (lost) => driveRun(wanted, this.worker, lost));
    // Its entry in the queue stays for the next driver of the run.
    if (!(await this.during(driving))) return NEVER;
    warn(`${wanted.run} has ended`);
  };

  turn = async (wanted: QueuedTurn): Promise<void> => {
    if (!(await this.workerName.isMine())) {
      await this.queues.putTurnBack(wanted);
      return NEVER;
    }
    if (this.worker.leaving.aborted || !(await this.during(this.guestTurns.take(wanted)))) return NEVER;
  };

  private during<T>(work: Promise<T>): Promise<T> {
    this.underWay.add(work);
    return work.finally(() => this.underWay.delete(work));
  }
}

const NEVER = new Promise<never>(() => {});
