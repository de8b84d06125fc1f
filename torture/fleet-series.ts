// Three workers on a PostgreSQL of the tests, fifty rounds of kills; each run is compared with an undisturbed one.
//   npm run torture -- fleet [--rounds 50] [--blows 6] [--seed N] [--version 325] [--claude-every 5] [--lost] [--out FILE]
// With --lost there are only rounds in which workers are taken for gone.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PostgresServer } from '../test/postgres/server.ts';
import { FLEET_MODES, LOST_MODES } from './fleet-blows.ts';
import { type RoundReport, tortureFleet } from './fleet-torture.ts';
import { claudeOf, PROJECT } from './install.ts';
import { describeMachine } from './machine.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rounds: { type: 'string', default: '50' },
    blows: { type: 'string', default: '6' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    version: { type: 'string', default: '325' },
    'claude-every': { type: 'string', default: '5' },
    lost: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

const seed = Number(values.seed);
const out = resolve(values.out ?? join(PROJECT, 'torture', 'results', `fleet-${values.version}-${seed}.json`));
for (const tool of ['postgres', 'claude-code']) {
  const install = join(PROJECT, 'test', tool, 'install.mjs');
  if (spawnSync(process.execPath, [install], { stdio: 'inherit' }).status !== 0) process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'raymond-torture-'));
console.log(`seed ${seed}, Claude Code 2.1.${values.version}, ${values.rounds} rounds, in ${folder}`);
const server = await PostgresServer.start();
const environment = {
  raymond: join(PROJECT, 'dist', 'raymond.js'),
  claude: claudeOf(values.version),
  server,
  folder,
  pace: { minMs: 100, maxMs: 400 },
};
const options = {
  seed,
  rounds: Number(values.rounds),
  modes: values.lost ? LOST_MODES : FLEET_MODES,
  blowsPerRound: Number(values.blows),
  maxDelayMs: 1_500,
  cannedRuns: 3,
  cloneRuns: 1,
  claudeEvery: Number(values['claude-every']),
};
let reports: readonly RoundReport[] = [];
try {
  reports = await tortureFleet(environment, options, report);
} finally {
  await server.stop();
}
const failures = reports.flatMap(({ round, failures }) => failures.map((failure) => `round ${round}: ${failure}`));
const blows = reports.flatMap((each) => each.blows);
const summary = {
  seed,
  version: `2.1.${values.version}`,
  rounds: reports.length - 1,
  blows: blows.length,
  byBlow: Object.fromEntries(
    [...new Set(blows)].sort().map((name) => [name, blows.filter((each) => each === name).length]),
  ),
  midTurn: sum(reports.map(({ turnsUnderWay }) => turnsUnderWay)),
  steps: sum(reports.map(({ steps }) => steps)),
  takeovers: sum(reports.map(({ epochs }) => epochs)),
  givenAway: sum(reports.map(({ moves }) => moves)),
  rehomed: sum(reports.map(({ rehomed }) => rehomed)),
  failures,
  ...describeMachine(),
};
await mkdir(dirname(out), { recursive: true });
await writeFile(out, `${JSON.stringify({ ...summary, reports }, null, 2)}\n`);
console.log(JSON.stringify(summary, null, 2));
console.log(failures.length === 0 ? `no failures; see ${out}` : `${failures.length} failures; kept: ${folder}`);
if (failures.length === 0) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
process.exitCode = failures.length === 0 ? 0 : 1;

function report({ round, blows, tookMs, steps, epochs, moves, rehomed, failures }: RoundReport): void {
  const lost = moves === 0 ? '' : `, ${moves} given away, ${rehomed} rehomed`;
  const figures = `${(tookMs / 1000).toFixed(1)} s, ${steps} steps, ${epochs} takeovers${lost}`;
  console.log(`${round} ${figures}: ${blows.join(' ')}`);
  for (const failure of failures) console.log(`  FAILURE ${failure}`);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
