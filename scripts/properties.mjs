/**
 * Runs the tests of random properties with new cases: `npm run properties -- [ROUNDS]`, five rounds unless told. Stops
 * at the first round that fails.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const rounds = Number(process.argv[2] ?? 5);
const files = readdirSync('test', { recursive: true })
  .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
  .map((file) => `test/${file}`)
  .filter((file) => readFileSync(file, 'utf8').includes(`from 'fast-check'`));
for (let round = 1; round <= rounds; round += 1) {
  const PROPERTY_SEED = String(randomInt(2 ** 31));
  console.log(`round ${round} of ${rounds}: PROPERTY_SEED=${PROPERTY_SEED}, ${files.length} files`);
  const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files], {
    env: { ...process.env, PROPERTY_SEED },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
