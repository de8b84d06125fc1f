import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkPlan } from './check-case.ts';
import { directedPlan } from './directed-plan.ts';
import { PairTable } from './pairs.ts';
import { PLANS } from './plan.ts';
import { removeShared } from './run-case.ts';

/*
 * Random workflows that combine all features, each compared with a model that was written from docs/protocol.md alone. `npm run
 * properties` tries more of them: PROPERTY_SEED, COMBINATION_RUNS and COMBINATION_SECONDS say which and how many, and
 * COMBINATION_TABLE prints how often each pair of features met.
 */

const RUNS = Number(process.env.COMBINATION_RUNS ?? 150);
const LIMIT_MS = Number(process.env.COMBINATION_SECONDS ?? 0) * 1000;
const MINUTE_MS = 60_000;

/** Pairs that chance has left out are tried on purpose, each as often as this. */
const ATTEMPTS = 3;

const pairs = new PairTable();

// Thousands of small files are written; a disk would take longer than the runs.
const usualFolder = process.env.TMPDIR;
beforeAll(() => {
  if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm';
});
afterAll(async () => {
  await removeShared();
  if (usualFolder === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = usualFolder;
});

test('every run does what the protocol says, whatever meets in it', {
  timeout: LIMIT_MS + 5 * MINUTE_MS,
  retry: 0,
}, async () => {
  const until = LIMIT_MS === 0 ? {} : { interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: false };
  await fc.assert(
    fc.asyncProperty(PLANS, (plan) => checkPlan(plan, pairs)),
    { numRuns: RUNS, ...until },
  );
});

test('no pair of features is missing', { timeout: 10 * MINUTE_MS, retry: 0 }, async () => {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    for (const pair of pairs.missing)
      if (pairs.isMissing(pair)) await checkPlan(directedPlan(pair, attempt, pairs), pairs);
  }
  if (process.env.COMBINATION_TABLE !== undefined) console.log(pairs.format());
  expect(pairs.missing.map((pair) => pair.join(' and '))).toStrictEqual([]);
});
