import { setTimeout as delay } from 'node:timers/promises';
import { checkTrial, collectEvidence, type Evidence } from './check-trial.ts';
import { type CrashTrial, type Kill, runTrial } from './crash-trial.ts';
import { type Blow, type FleetMode, type FleetModes, strike } from './fleet-blows.ts';
import { type FleetEnvironment, FleetRig } from './fleet-rig.ts';
import { createRandom, type Random } from './random.ts';
import type { Rig } from './rig.ts';

/** The options of a series of rounds. */
export interface FleetOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly modes: FleetModes;
  readonly blowsPerRound: number;
  readonly maxDelayMs: number;
  /** The runs of a round without Claude Code. */
  readonly cannedRuns: number;
  /** The runs of a round that work in clones. */
  readonly cloneRuns: number;
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
  /** How often a run was given to another worker, because its own was gone; and how often an agent. */
  readonly moves: number;
  readonly rehomed: number;
  readonly failures: readonly string[];
}

const WORKERS = ['one', 'two', 'three'];
/** A round that takes longer hangs. */
const HANG_TIMEOUT_MS = 300_000;

/** The commands that follow the runs are left alone. */
const UNDISTURBED = { targets: ['orchestrator'], maxKills: 0, maxDelayMs: 0 } as const;

type Baseline = Partial<Record<Kind, Evidence>>;

type Kind = 'canned' | 'clone' | 'claude';

const kindOf = ({ id }: Rig): Kind =>
  id.startsWith('canned') ? 'canned' : id.startsWith('clone') ? 'clone' : 'claude';

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
  const settings = {
    random: createRandom(Math.floor(random.next() * 2 ** 32)),
    lost: round === 0 ? undefined : mode.lost,
  };
  const fleet = await FleetRig.open(environment, WORKERS, settings);
  let keep = true;
  try {
    const { claude } = environment;
    const hasClaude = claude !== null && options.claudeEvery > 0 && round % options.claudeEvery === 0;
    for (let run = 1; run <= options.cannedRuns; run += 1)
      await fleet.addCanned(`canned-${round}-${run}`, run % 2 === 0);
    for (let run = 1; run <= options.cloneRuns; run += 1) await fleet.addClone(`clone-${round}-${run}`);
    if (hasClaude) await fleet.addClaude(`claude-${round}`, claude, random.next() < 0.5);
    const over = new AbortController();
    const hang = setTimeout(() => over.abort(), HANG_TIMEOUT_MS);
    const trials = Promise.all(fleet.rigs.map((rig) => follow(fleet, rig, random, over.signal)));
    const blows: Kill[] = [];
    const names: Blow[] = [];
    await allAreThere(fleet);
    await fleet.spreadRuns(random);
    if (round > 0) {
      const { blowsPerRound, maxDelayMs } = options;
      await strike(fleet, environment, {
        mode,
        maxDelayMs,
        random,
        over: over.signal,
        // Each of these takes long.
        blows: mode.lost === undefined ? blowsPerRound : Math.ceil(blowsPerRound / 2),
        note(blow, kill) {
          names.push(blow);
          blows.push(kill);
        },
      });
    }
    const ended = await Promise.race([trials, aborted(over.signal)]);
    clearTimeout(hang);
    over.abort();
    const failures: string[] = [];
    let [steps, rehomed] = [0, 0];
    if (ended === null) failures.push('it hangs');
    for (const [index, trial] of (ended ?? []).entries()) {
      const rig = fleet.rigs[index];
      if (rig === undefined) continue;
      const kind = kindOf(rig);
      const evidence = await collectEvidence(rig);
      baseline[kind] ??= evidence;
      steps += (await rig.traces()).state.seq;
      rehomed += evidence.events.filter(({ kind: each }) => each === 'rehomed').length;
      const checked = checkTrial({ ...trial, kills: blows }, evidence, baseline[kind] ?? evidence);
      failures.push(...checked.map((failure) => `${rig.id}: ${failure}`));
    }
    failures.push(...(await checkRows(fleet, environment)));
    keep = failures.length > 0;
    const turnsUnderWay = blows.filter(({ underWay }) => underWay.length > 0).length;
    const [sum] = await fleet.database.query<{ epochs: number; moves: number }>(
      'select sum(epoch)::integer as epochs, sum(move)::integer as moves from raymond.runs',
    );
    const tookMs = Date.now() - began;
    const { epochs = 0, moves = 0 } = sum ?? {};
    return { round, blows: names, turnsUnderWay, tookMs, steps, epochs, moves, rehomed, failures };
  } finally {
    await fleet.close(keep);
  }
}

/** Starts a run and follows it to its end, however often it must be resumed; questions are answered. */
async function follow(fleet: FleetRig, rig: Rig, random: Random, over: AbortSignal): Promise<CrashTrial> {
  const ended = new AbortController();
  if (kindOf(rig) === 'canned')
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
