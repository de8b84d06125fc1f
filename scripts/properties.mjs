/**
 * Runs the tests of random properties with new cases, then random combinations of all features for some minutes:
 * `npm run properties -- [--rounds 5] [--minutes 10] [--seed N]`. Prints the seed, which brings a failure back, and how often each
 * pair of features met. Stops at the first failure.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const COMBINATIONS = 'test/combinations/combinations.test.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const minutes = Number(values.minutes);
const files = listFiles('test').filter(
  (file) =>
    file.endsWith('.test.ts') && file !== COMBINATIONS && readFileSync(file, 'utf8').includes(`from 'fast-check'`),
);

for (let round = 1; round <= rounds; round += 1) {
  const seed = values.seed ?? String(randomInt(2 ** 31));
  console.log(`round ${round} of ${rounds}: PROPERTY_SEED=${seed}, ${files.length} files`);
  run(files, { PROPERTY_SEED: seed });
}
if (minutes > 0) {
  const seed = values.seed ?? String(randomInt(2 ** 31));
  console.log(`combinations for ${minutes} minutes: PROPERTY_SEED=${seed}`);
  const runs = { COMBINATION_RUNS: '1000000', COMBINATION_SECONDS: String(minutes * 60), COMBINATION_TABLE: '1' };
  run([COMBINATIONS], { PROPERTY_SEED: seed, ...runs });
}

/** The files below a folder; Wine keeps a link to the whole disk in one of the `node_modules`. */
function listFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return entry.name === 'node_modules' ? [] : listFiles(path);
  });
}

function run(tests, env) {
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...tests, '--retry', '0'];
  const { status } = spawnSync(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
