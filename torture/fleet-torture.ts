import { setTimeout as delay } from 'node:timers/promises';
import { checkTrial, collectEvidence, type Evidence } from './check-trial.ts';
import { type CrashTrial, type Kill, runTrial } from './crash-trial.ts';
import { type FleetEnvironment, FleetRig, type TorturedWorker } from './fleet-rig.ts';
import { killGroups, processesOf, turnsOf } from './processes.ts';
import { createRandom, type Random } from './random.ts';
import type { Rig } from './rig.ts';

/**
 * What is done to a fleet: a worker is killed, a turn, a worker with all turns, or all workers; a worker stands still for a while; all
 * connections to the database are cut; the database is killed; it is away for longer than a worker may be silent, which ends the round.
 */
type Blow = 'worker' | 'turn' | 'both' | 'workers' | 'pause' | 'connections' | 'database' | 'outage';

/** The blows of a round; each is drawn from these. */
export type FleetMode = readonly [Blow, ...Blow[]];

/** The modes of a series, taken in turn. */
export const FLEET_MODES: readonly [FleetMode, ...FleetMode[]] = [
  ['worker'],
  ['turn'],
  ['both'],
  ['worker', 'workers', 'pause', 'connections', 'database'],
  ['worker', 'turn', 'both', 'workers', 'pause', 'connections', 'database'],
  ['worker', 'outage'],
];

const OUTAGE_MS = 60_000;

/** The options of a series of rounds. */
export interface FleetOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly modes: readonly [FleetMode, ...FleetMode[]];
  readonly blowsPerRound: number;
  readonly maxDelayMs: number;
  /** The runs of a round without Claude Code. */
  readonly cannedRuns: number;
  /** In every so-manieth round there is a run with Claude Code, too; 0 for none. */
  readonly claudeEvery: number;
}

/** A round and its result. */
export interface RoundReport {
  readonly round: number;
  readonly blows: readonly Blow[];
  readonly turnsUnderWay: number;
  readonly tookMs: number;
  readonly steps: number;
  readonly epochs: number;
  readonly failures: readonly string[];
}

const WORKERS = ['one', 'two', 'three'];
/** A round that takes longer hangs. */
const HANG_TIMEOUT_MS = 300_000;

/** The commands that follow the runs are left alone. */
const UNDISTURBED = { targets: ['orchestrator'], maxKills: 0, maxDelayMs: 0 } as const;

type Baseline = { canned?: Evidence; claude?: Evidence };

/** Runs everything once undisturbed, then in rounds of blows. */
export async function tortureFleet(
  environment: FleetEnvironment,
  options: FleetOptions,
  report: (round: RoundReport) => void,
): Promise<readonly RoundReport[]> {
  const random = createRandom(options.seed);
  const baseline: Baseline = {};
  const reports: RoundReport[] = [];
  for (let round = 0; round <= options.rounds; round += 1) {
    const mode = options.modes[(round - 1) % options.modes.length] ?? options.modes[0];
    const next = await runRound(environment, options, { round, mode, baseline }, random);
    report(next);
    reports.push(next);
    if (round === 0 && next.failures.length > 0) break;
  }
  return reports;
}

async function runRound(
  environment: FleetEnvironment,
  options: FleetOptions,
  { round, mode, baseline }: { round: number; mode: FleetMode; baseline: Baseline },
  random: Random,
): Promise<RoundReport> {
  const began = Date.now();
  const fleet = await FleetRig.open(environment, WORKERS, createRandom(Math.floor(random.next() * 2 ** 32)));
  let keep = true;
  try {
    const { claude } = environment;
    const hasClaude = claude !== null && options.claudeEvery > 0 && round % options.claudeEvery === 0;
    for (let run = 1; run <= options.cannedRuns; run += 1)
      await fleet.addCanned(`canned-${round}-${run}`, run % 2 === 0);
    if (hasClaude) await fleet.addClaude(`claude-${round}`, claude, random.next() < 0.5);
    const over = new AbortController();
    const hang = setTimeout(() => over.abort(), HANG_TIMEOUT_MS);
    const trials = Promise.all(fleet.rigs.map((rig) => follow(fleet, rig, random, over.signal)));
    const blows: Kill[] = [];
    const names: Blow[] = [];
    await allAreThere(fleet);
    await fleet.spreadRuns(random);
    if (round > 0) {
      await strike(fleet, environment, options, mode, random, over.signal, (blow, kill) => {
        names.push(blow);
        blows.push(kill);
      });
    }
    const ended = await Promise.race([trials, aborted(over.signal)]);
    clearTimeout(hang);
    over.abort();
    const failures: string[] = [];
    let steps = 0;
    if (ended === null) failures.push('it hangs');
    for (const [index, trial] of (ended ?? []).entries()) {
      const rig = fleet.rigs[index];
      if (rig === undefined) continue;
      const kind = rig.id.startsWith('canned') ? 'canned' : 'claude';
      const evidence = await collectEvidence(rig);
      baseline[kind] ??= evidence;
      steps += (await rig.traces()).state.seq;
      const checked = checkTrial({ ...trial, kills: blows }, evidence, baseline[kind] ?? evidence);
      failures.push(...checked.map((failure) => `${rig.id}: ${failure}`));
    }
    failures.push(...(await checkRows(fleet, environment)));
    keep = failures.length > 0;
    const turnsUnderWay = blows.filter(({ underWay }) => underWay.length > 0).length;
    const [sum] = await fleet.database.query<{ epochs: number }>(
      'select sum(epoch)::integer as epochs from raymond.runs',
    );
    const tookMs = Date.now() - began;
    return { round, blows: names, turnsUnderWay, tookMs, steps, epochs: sum?.epochs ?? 0, failures };
  } finally {
    await fleet.close(keep);
  }
}

/** Starts a run and follows it to its end, however often it must be resumed; questions are answered. */
async function follow(fleet: FleetRig, rig: Rig, random: Random, over: AbortSignal): Promise<CrashTrial> {
  const ended = new AbortController();
  if (rig.id.startsWith('canned'))
    fleet.answerWhenAsked(rig, AbortSignal.any([over, ended.signal])).catch(() => undefined);
  const trial = await runTrial(rig, { ...UNDISTURBED, words: { most: 0, random } }, random);
  ended.abort();
  return trial;
}

/** Waits until all runs are in the database. */
async function allAreThere(fleet: FleetRig): Promise<void> {
  for (;;) {
    const rows = await fleet.database.query('select id from raymond.runs');
    if (rows.length >= fleet.rigs.length) return;
    await delay(50);
  }
}

async function strike(
  fleet: FleetRig,
  { server }: FleetEnvironment,
  { blowsPerRound, maxDelayMs }: FleetOptions,
  mode: FleetMode,
  random: Random,
  over: AbortSignal,
  note: (blow: Blow, kill: Kill) => void,
): Promise<void> {
  const starting: Promise<void>[] = [];
  for (let count = 0; count < blowsPerRound && !over.aborted; count += 1) {
    await delay(random.between(0, maxDelayMs));
    const processes = fleet.rigs.flatMap(({ id }) => processesOf(id));
    const { atWork: underWay, idle } = turnsOf(processes);
    const blow = random.oneOf(mode);
    const worker = fleet.workers[Math.floor(random.next() * fleet.workers.length)];
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
    if (blow === 'connections') await cutConnections(fleet);
    if (blow === 'database' || blow === 'outage') {
      await server.kill();
      await delay(blow === 'outage' ? OUTAGE_MS : random.between(0, 2_000));
      await server.restart();
    }
    const target = blow === 'turn' || blow === 'both' ? blow : 'orchestrator';
    note(blow, {
      ...{ at: Date.now(), target, when: 'timed', underWay, killed },
      killedIdle: killed.filter((turn) => idle.includes(turn)),
    });
    if (blow === 'outage') break;
  }
  await Promise.all(starting);
}

/** Kills the process of a worker, if there is one, and starts the next. */
async function killWorker(fleet: FleetRig, worker: TorturedWorker, afterMs: number): Promise<void> {
  const { child } = worker;
  if (!child.kill('SIGKILL')) return;
  await delay(afterMs);
  if (worker.child === child) fleet.restart(worker);
}

/** A worker stands still and goes on, if it still lives then. */
async function pauseWorker({ child }: TorturedWorker, forMs: number): Promise<void> {
  if (!child.kill('SIGSTOP')) return;
  await delay(forMs);
  child.kill('SIGCONT');
}

const cutConnections = (fleet: FleetRig): Promise<unknown> =>
  fleet.database
    .query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    .catch(() => undefined);

/** What must be true of the rows besides what each run says of itself. */
async function checkRows(fleet: FleetRig, { server }: FleetEnvironment): Promise<readonly string[]> {
  const gaps = await fleet.database.query<{ id: string; seq: number; rows: number; last: number }>(
    `select id, runs.seq, count(*)::integer as rows, max(journal.seq) as last
     from raymond.runs join raymond.journal on run = id group by id
     having count(*) <> runs.seq + 1 or max(journal.seq) <> runs.seq or min(journal.seq) <> 0`,
  );
  const back = await fleet.database.query<{ run: string; seq: number }>(
    `select run, seq from (select run, seq, epoch, lag(epoch) over (partition by run order by seq) as before
     from raymond.journal) as rows where epoch < before`,
  );
  return [
    ...gaps.map(({ id, seq, rows, last }) => `${id} is at step ${seq} with ${rows} rows up to ${last}`),
    ...back.map(({ run, seq }) => `step ${seq} of ${run} was saved by who had lost it`),
    ...fleet.workers.flatMap(({ name, ends, said }) =>
      ends === 0 ? [] : [`the worker ${name} has ended by itself ${ends} times: ${said.slice(-1_500)}`],
    ),
    ...fleet.workers
      .filter(({ said }) => said.includes(server.password))
      .map(({ name }) => `the worker ${name} has said the password`),
    ...fleet.workers.flatMap(({ name, said }) => {
      const odd = said.split('\n').filter((line) => /\bat .*:\d+:\d+\)?$|DBOS:/.test(line));
      return odd.map((line) => `${name} says: ${line}`);
    }),
  ];
}

const aborted = (signal: AbortSignal): Promise<null> =>
  new Promise((done) => signal.addEventListener('abort', () => done(null), { once: true }));
