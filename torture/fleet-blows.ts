import { setTimeout as delay } from 'node:timers/promises';
import type { Kill, KillTarget } from './crash-trial.ts';
import type { FleetEnvironment, FleetRig, FleetSettings, TorturedWorker } from './fleet-rig.ts';
import { killGroups, processesOf, turnsOf } from './processes.ts';
import type { Random } from './random.ts';

/**
 * What is done to a fleet: a worker is killed, a turn, a worker with all turns, or all workers; a worker stands still for a while; all
 * connections to the database are cut; the database is killed; it is away for longer than a worker may be silent, which ends the round.
 * Where workers are taken for gone: one stands still (`still`), or is killed and not started again (`gone`), until others have got its runs.
 */
export type Blow =
  | 'worker'
  | 'turn'
  | 'both'
  | 'workers'
  | 'pause'
  | 'connections'
  | 'database'
  | 'outage'
  | 'still'
  | 'gone';

/** The blows of a round, each of which is drawn from these, and what becomes of agents whose worker is gone. */
export interface FleetMode {
  readonly blows: readonly [Blow, ...Blow[]];
  readonly lost?: FleetSettings['lost'];
}

/** Modes, taken in turn. */
export type FleetModes = readonly [FleetMode, ...FleetMode[]];

/** The modes in which workers are taken for gone. */
export const LOST_MODES: FleetModes = [
  { blows: ['gone', 'still'], lost: 'wait' },
  { blows: ['gone', 'still'], lost: 'rehome' },
  { blows: ['gone', 'still', 'worker', 'turn', 'connections', 'database'], lost: 'wait' },
  { blows: ['gone', 'still', 'worker', 'turn', 'connections', 'database'], lost: 'rehome' },
];

/** The modes of a series. */
export const FLEET_MODES: FleetModes = [
  { blows: ['worker'] },
  { blows: ['turn'] },
  { blows: ['both'] },
  { blows: ['worker', 'workers', 'pause', 'connections', 'database'] },
  { blows: ['worker', 'turn', 'both', 'workers', 'pause', 'connections', 'database'] },
  { blows: ['worker', 'outage'] },
  ...LOST_MODES,
];

const OUTAGE_MS = 60_000;

/** How a round is struck. */
interface StrikePlan {
  readonly mode: FleetMode;
  readonly blows: number;
  readonly maxDelayMs: number;
  readonly random: Random;
  readonly over: AbortSignal;
  readonly note: (blow: Blow, kill: Kill) => void;
}

/** Strikes a fleet; when it returns, all workers and the database are there again. */
export async function strike(
  fleet: FleetRig,
  { server }: FleetEnvironment,
  { mode, blows, maxDelayMs, random, over, note }: StrikePlan,
): Promise<void> {
  const starting: Promise<void>[] = [];
  let absent: Promise<void> = Promise.resolve();
  for (let count = 0; count < blows && !over.aborted; count += 1) {
    await delay(random.between(0, maxDelayMs));
    const blow = random.oneOf(mode.blows);
    // One at a time: the others find out.
    if (blow === 'still' || blow === 'gone') await absent;
    const processes = fleet.rigs.flatMap(({ id }) => processesOf(id));
    const { atWork: underWay, idle } = turnsOf(processes);
    const worker = await fleet.chooseDriver(random);
    if (worker === undefined) return;
    let killed: readonly string[] = [];
    if (blow === 'turn' || blow === 'both') {
      const [first, ...others] = underWay;
      const chosen = first === undefined ? undefined : random.oneOf([first, ...others]);
      killed = killGroups(processes.filter(({ turn }) => blow === 'both' || turn === chosen));
    }
    if (blow === 'worker' || blow === 'both') starting.push(killWorker(fleet, worker, random.between(0, 600)));
    if (blow === 'workers')
      starting.push(...fleet.workers.map((each) => killWorker(fleet, each, random.between(0, 600))));
    if (blow === 'pause') starting.push(pauseWorker(worker, random.between(500, 3_000)));
    if (blow === 'still') absent = stopUntilGivenUp(fleet, worker, random.between(0, 2_000));
    if (blow === 'gone') absent = killUntilGivenUp(fleet, worker, random.between(0, 2_000));
    if (blow === 'connections') await cutConnections(fleet);
    if (blow === 'database' || blow === 'outage') {
      await server.kill();
      await delay(blow === 'outage' ? OUTAGE_MS : random.between(0, 2_000));
      await server.restart();
    }
    note(blow, {
      at: Date.now(),
      target: targetOf(blow, mode),
      when: 'timed',
      underWay,
      killed,
      killedIdle: killed.filter((turn) => idle.includes(turn)),
    });
    if (blow === 'outage') break;
  }
  await Promise.all([...starting, absent]);
}

/** What may differ from an undisturbed run. Who is slow to start again may be taken for gone, too. */
function targetOf(blow: Blow, { lost }: FleetMode): KillTarget {
  if (lost === 'rehome') return 'home';
  return blow === 'turn' || blow === 'both' ? blow : 'orchestrator';
}

/** Kills the process of a worker, if there is one, and starts the next. */
async function killWorker(fleet: FleetRig, worker: TorturedWorker, afterMs: number): Promise<void> {
  const { child } = worker;
  if (!child.kill('SIGKILL')) return;
  await delay(afterMs);
  if (worker.child === child) fleet.restart(worker);
}

/** A worker stands still and continues, if it still lives then. */
async function pauseWorker({ child }: TorturedWorker, forMs: number): Promise<void> {
  if (!child.kill('SIGSTOP')) return;
  await delay(forMs);
  child.kill('SIGCONT');
}

/** A worker stands still until others have got its runs, and then for so long. */
async function stopUntilGivenUp(fleet: FleetRig, worker: TorturedWorker, moreMs: number): Promise<void> {
  const { child } = worker;
  if (!child.kill('SIGSTOP')) return;
  await fleet.isGivenUp(worker);
  await delay(moreMs);
  child.kill('SIGCONT');
}

/** A worker is gone until others have got its runs, and then for so long; then it is started again. */
async function killUntilGivenUp(fleet: FleetRig, worker: TorturedWorker, moreMs: number): Promise<void> {
  const { child } = worker;
  if (!child.kill('SIGKILL')) return;
  await fleet.isGivenUp(worker);
  await delay(moreMs);
  if (worker.child === child) fleet.restart(worker);
}

const cutConnections = (fleet: FleetRig): Promise<unknown> =>
  fleet.database
    .query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    .catch(() => undefined);
