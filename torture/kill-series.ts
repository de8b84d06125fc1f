// Kills Raymond a hundred times and compares each run with an undisturbed one.
//   npm run torture -- --kills 100 [--seed N] [--version 325] [--modes orchestrator,turn] [--words 6] [--out FILE]
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { claudeOf, installRaymond, PROJECT } from './install.ts';
import { describeMachine } from './machine.ts';
import { endAll } from './rig.ts';
import { type Mode, midTurn, type TrialReport, torture } from './torture.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    version: { type: 'string', default: '325' },
    modes: { type: 'string', default: 'orchestrator,turn,both,mixed' },
    'most-per-run': { type: 'string', default: '13' },
    'longest-ms': { type: 'string', default: '2500' },
    words: { type: 'string', default: '0' },
    out: { type: 'string' },
  },
});

/** The share of kills that must hit a running turn; with fewer the test proves too little. */
const MIN_MID_TURN = 0.8;

const seed = Number(values.seed);
const out = resolve(values.out ?? join(PROJECT, 'torture', 'results', `${values.version}-${seed}.json`));
const install = join(PROJECT, 'test', 'claude-code', 'install.mjs');
if (spawnSync(process.execPath, [install], { stdio: 'inherit' }).status !== 0) process.exit(1);
const folder = await mkdtemp(join(tmpdir(), 'raymond-torture-'));
console.log(`seed ${seed}, Claude Code 2.1.${values.version}, ${values.kills} kills, in ${folder}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endAll();
    process.exit(1);
  });
}

const environment = {
  raymond: await installRaymond(join(folder, 'installed')),
  claude: claudeOf(values.version),
  folder,
  pace: { minMs: 300, maxMs: 1_000 },
};
const modes = values.modes.split(',') as [Mode, ...Mode[]];
const limits = { maxKillsPerRun: Number(values['most-per-run']), maxDelayMs: Number(values['longest-ms']) };
console.log(
  row([
    'run',
    'kills',
    'mid-turn',
    'resumes',
    'exits',
    'seconds',
    'requests',
    'ledger',
    'charged',
    'unreported',
    'off',
    'failed turns',
  ]),
);
const trials = await torture(
  environment,
  { seed, kills: Number(values.kills), modes, ...limits, words: Number(values.words) },
  report,
);

const kills = trials.flatMap((trial) => trial.kills);
const failures = trials.flatMap(({ id, failures }) => failures.map((failure) => `${id}: ${failure}`));
const share = kills.length === 0 ? 1 : midTurn(kills) / kills.length;
if (share < MIN_MID_TURN) failures.push(`only ${Math.round(share * 100)} % of the kills hit a running turn`);
const summary = {
  seed,
  version: `2.1.${values.version}`,
  kills: kills.length,
  midTurn: midTurn(kills),
  runs: trials.length - 1,
  killedBetweenTurns: kills.filter(({ killedIdle }) => killedIdle.length > 0).length,
  said: trials.reduce((sum, { said }) => sum + said, 0),
  byTarget: count(kills.map(({ target }) => target)),
  byTime: count(kills.map(({ when }) => when)),
  exits: count(trials.flatMap(({ exits }) => exits.map(String))),
  failures,
  ...describeMachine(),
};
await mkdir(dirname(out), { recursive: true });
await writeFile(out, `${JSON.stringify({ ...summary, trials }, null, 2)}\n`);
console.log(JSON.stringify(summary, null, 2));
console.log(
  `${failures.length === 0 ? 'no failures' : `${failures.length} failures; the folder is kept: ${folder}`}; see ${out}`,
);
if (failures.length === 0) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
process.exitCode = failures.length === 0 ? 0 : 1;

function report(trial: TrialReport): void {
  const { id, kills, resumes, exits, tookMs, requests, spentMicros, chargedMicros, unreportedMicros, offMicros } =
    trial;
  const codes = Object.entries(count(exits.map(String))).map(([code, times]) => `${code}×${times}`);
  const failed = Object.entries(trial.failedTurns).map(([kind, times]) => `${kind}×${times}`);
  const dollars = [spentMicros, chargedMicros, unreportedMicros, offMicros].map((micros) => (micros / 1e6).toFixed(4));
  const seconds = (tookMs / 1000).toFixed(1);
  console.log(
    row([id, kills.length, midTurn(kills), resumes, codes.join(' '), seconds, requests, ...dollars, failed.join(' ')]),
  );
  for (const failure of trial.failures) console.log(`  FAILURE ${failure}`);
}

function row(cells: readonly unknown[]): string {
  const widths = [24, 6, 9, 8, 10, 8, 9, 8, 8, 8, 8, 0];
  return cells
    .map((cell, index) => String(cell).padEnd(widths[index] ?? 0))
    .join(' ')
    .trimEnd();
}

function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
