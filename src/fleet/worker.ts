import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { EXIT, errorMessageOf, RaymondError } from '../errors.ts';
import { formatDuration } from '../events/format.ts';
import { makePrivateFolder } from '../store/files.ts';
import { layoutOf } from '../store/layout.ts';
import { IdleLimit } from '../turns/idle-limit.ts';
import { openDatabase } from './database.ts';
import { endLeftovers } from './leftovers.ts';
import { LiveOutput } from './live-output.ts';
import { deletePiecesOf } from './live-rows.ts';
import { LostHomes } from './lost-homes.ts';
import { QueueWork } from './queue-work.ts';
import { QueueClient, serveQueues } from './queues.ts';
import { RunFolders, removeGoneRuns } from './removals.ts';
import { Requests } from './requests.ts';
import type { WorkerContext } from './run-here.ts';
import { checkSchema } from './schema.ts';
import { Slots } from './slots.ts';
import { sweepRuns } from './sweep-runs.ts';
import { Travel } from './travel.ts';
import { claimWorkerName, type WorkerFacts, type WorkerName } from './worker-name.ts';

/** How a worker is started. */
export interface WorkerRequest extends WorkerFacts {
  readonly address: string;
  /** The worker's own folder: what it needs to go on with its runs is there. */
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
    throw new RaymondError(message, { exitCode: EXIT.usage, hint: 'See raymond worker --help.' });
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
  await database.whenReachable(() => checkSchema(database));
  const aheadMs = await database.whenReachable(() => database.readClock());
  if (Math.abs(aheadMs) > TOLD_FROM_MS) say(describeClock(aheadMs));
  let end: (exitCode: number) => void = () => {};
  const ended = new Promise<number>((done) => {
    end = done;
  });
  const leaving = new AbortController();
  const workerName = await claimWorkerName(database, request, () => {
    say(`another process has the name ${name} now: this one ends, and leaves its turns to that`);
    end(EXIT.paused);
  });
  const me = { name, token: workerName.token };
  await makePrivateFolder(layout.root, true);
  const requests = new Requests(database, name);
  const queues = await database.whenReachable(() => QueueClient.open(database));
  await database.whenReachable(() => deletePiecesOf(database, name));
  const liveOutput = new LiveOutput(database, name);
  const worker: WorkerContext = {
    liveOutput,
    name,
    database,
    requests,
    layout,
    leaving: leaving.signal,
    env: request.env,
    warn: say,
    folders: new RunFolders(layout, request.env),
    bootId: workerName.identity.bootId,
    countGaps: workerName.countGaps,
    wrapWorld: new Slots(slots, leaving.signal, database.clock).wrap,
    idleLimit: new IdleLimit(slots),
    travel: new Travel(
      database,
      queues,
      { name, leaving: leaving.signal, warn: say },
      new LostHomes(database, requests, me),
    ),
  };
  const work = new QueueWork(worker, workerName, queues);
  requests.add(liveOutput.look);
  await database.whenReachable(() => queues.register(name));
  // Before anything is taken up: what is left of an earlier process may be in the way.
  await endLeftovers(worker).catch((error: unknown) => say(errorMessageOf(error)));
  const served = await serveQueues(database, name, work, say);
  requests.start();
  const stopRemoving = removeGoneRuns(database, name, worker.folders, say);
  const stopSweeping = startSweeping(worker, workerName, queues);
  const labelText = labels.length === 0 ? '' : `, ${labels.join(', ')}`;
  say(`worker ${name} is ready: ${slots} slot${slots === 1 ? '' : 's'}${labelText}, ${database.name}`);
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
  try {
    return await ended;
  } finally {
    stopListening();
    stopSweeping();
    requests.close();
    stopRemoving();
    const closing = [served.stop(), workerName.release()];
    await Promise.race([Promise.allSettled(closing), new Promise((done) => setTimeout(done, EXIT_WITHIN_MS))]);
  }
}

const TOLD_FROM_MS = 10_000;

const describeClock = (aheadMs: number): string =>
  `the clock of this machine is ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the database: Raymond goes by the database, Claude Code and scripts go by this machine`;

/** Looks now and then for runs of workers that are gone, for the clock, and after a gap for what is left here; returns a function that ends that. */
function startSweeping(worker: WorkerContext, { token, countGaps }: WorkerName, queues: QueueClient): () => void {
  const { name, database, warn } = worker;
  let seenGaps = 0;
  let looksForLeftovers = LOOKS_FOR_LEFTOVERS;
  const sweep = async (): Promise<void> => {
    for (const { run, from, to } of await sweepRuns(database, queues, { name, token }))
      warn(`${run} is given to ${to}: its worker ${from} is gone`);
  };
  const timer = setInterval(() => {
    const gaps = countGaps();
    // Its agents may have gone on elsewhere while it was not heard of.
    if (gaps !== seenGaps) looksForLeftovers = LOOKS_FOR_LEFTOVERS;
    seenGaps = gaps;
    if (looksForLeftovers > 0) endLeftovers(worker).catch(() => {});
    looksForLeftovers -= 1;
    database.readClock().catch(() => {});
    sweep().catch(() => {});
  }, SWEEP_EVERY_MS);
  return () => clearInterval(timer);
}
