// What all measurements share. Whatever is compared is measured in turns within one run, so that a disturbance hits all
// of it alike and the ratio says the same on a fast machine and on a slow one.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROUNDS = 9;

/** The best of several rounds for each size; the sizes take turns. */
export function measureGrowth(work, makeInput, sizes) {
  const inputs = sizes.map(makeInput);
  const best = sizes.map(() => Number.POSITIVE_INFINITY);
  for (const input of inputs) work(input);
  for (let round = 0; round < ROUNDS; round += 1) {
    inputs.forEach((input, index) => {
      best[index] = Math.min(best[index], timeOnce(work, input));
    });
  }
  return sizes.map((size, index) => ({
    size,
    ms: best[index],
    usPerKb: (best[index] * 1000) / (size / 1024),
    ratio: index === 0 ? null : best[index] / best[index - 1],
  }));
}

/** Calls each of these in turns, in as many rounds as asked for; what they return is gathered by name. */
export async function inTurns(rounds, cases) {
  const results = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, measure] of Object.entries(cases)) results[name].push(await measure());
  }
  return results;
}

/** The value below which this share of the values lies. */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

export const median = (values) => quantile(values, 0.5);

/** The times between these times. */
export const gapsOf = (times) => times.slice(1).map((time, index) => time - times[index]);

const CLOCK_TICK_MS = 10;

/** What this process and those it has waited for have used of the processors. */
export function cpuMs() {
  const { user, system } = process.cpuUsage();
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1).split(' ');
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * CLOCK_TICK_MS;
}

/**
 * A folder that is gone when this process ends, and not earlier: ext4 is slow to make files where many were deleted in
 * the last minutes, and that would be measured as ours. BENCH_DIR names another place than the system's own.
 */
export function newWorkshop() {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'raymond-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  return () => {
    count += 1;
    const place = join(folder, String(count));
    // With a .raymond folder of its own, nobody else's is looked for.
    mkdirSync(join(place, '.raymond'), { recursive: true });
    return place;
  };
}

/** A number with its aim, and whether it is met; without an aim it is only shown. */
export const figure = (name, value, unit, aim = null) => ({
  name,
  value,
  unit,
  aim,
  met: aim === null ? null : value <= aim,
});

export function formatFigures(figures) {
  const rows = figures.map(({ name, value, unit, aim, met }) => [
    name,
    `${value.toFixed(2)} ${unit}`,
    aim === null ? '' : `≤ ${aim} ${unit}`,
    met === null ? '' : met ? 'met' : 'MISSED',
  ]);
  return inColumns(['measured', 'value', 'aim', ''], rows);
}

export function formatGrowth(rows) {
  const body = rows.map(({ name, size, ms, usPerKb, ratio }) => [
    name,
    String(size / 1024),
    ms.toFixed(2),
    usPerKb.toFixed(2),
    ratio === null ? '' : ratio.toFixed(2),
  ]);
  return inColumns(['reading tags', 'KB', 'ms', 'µs/KB', 't(2n)/t(n)'], body);
}

function inColumns(head, body) {
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((row) => row[column].length)));
  const line = (row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ');
  return [head, ...body].map((row) => line(row).trimEnd()).join('\n');
}

function timeOnce(work, input) {
  const start = performance.now();
  work(input);
  return performance.now() - start;
}
