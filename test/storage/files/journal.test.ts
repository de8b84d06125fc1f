import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Change } from '../../../src/core/run/change.ts';
import { RUN_VERSION } from '../../../src/core/run/run.ts';
import { Journal } from '../../../src/storage/files/journal-writer.ts';
import { refusalOf } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';
import { Disk } from './disk.ts';

const temporary = temporaryFolders();

const change = (seq: number): Change => ({ seq, head: {}, agents: [], events: [] });

async function journalOn({ isNew = false } = {}, disk = new Disk()) {
  const file = join(temporary({ 'run-1/x': '' }), 'run-1/journal.jsonl');
  const journal = await Journal.open(file, { seq: 0, offset: 0 }, { isNew, openFile: disk.open });
  disk.syncs = 0;
  return { file, disk, journal };
}

const seqsIn = (file: string): number[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as Change).seq);

test('a batch of steps costs one write and one sync, one line each', async () => {
  const { file, disk, journal } = await journalOn();
  const end = await journal.append([change(1), change(2), change(3)]);
  await journal.close();
  expect([disk.writes, disk.syncs]).toStrictEqual([1, 1]);
  expect(seqsIn(file)).toStrictEqual([1, 2, 3]);
  expect(end).toBe(statSync(file).size);
});

test('steps during a sync go together in the next one, in order', async () => {
  const { file, disk, journal } = await journalOn();
  let openGate = (): void => {};
  disk.gate = new Promise((resolve) => {
    openGate = resolve;
  });
  const first = journal.append([change(1)]);
  while (disk.syncs === 0) await new Promise(setImmediate);
  const later = [2, 3, 4, 5, 6].map((seq) => journal.append([change(seq)]));
  openGate();
  const ends = await Promise.all([first, ...later]);
  await journal.close();
  expect([disk.writes, disk.syncs]).toStrictEqual([2, 2]);
  expect(seqsIn(file)).toStrictEqual([1, 2, 3, 4, 5, 6]);
  expect(ends.at(-1)).toBe(statSync(file).size);
  expect(ends).toStrictEqual([1, 2, 3, 4, 5, 6].map((count) => (count * statSync(file).size) / 6));
});

test('a resolved append is on disk', async () => {
  const { disk, journal } = await journalOn();
  const order: string[] = [];
  disk.gate = Promise.resolve().then(() => void order.push('sync'));
  await journal.append([change(1)]).then(() => order.push('resolved'));
  await journal.close();
  expect(order).toStrictEqual(['sync', 'resolved']);
});

test('the file is private', async () => {
  const { file, journal } = await journalOn();
  await journal.close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

describe('everything is refused after a failure', () => {
  test.each([
    ['ENOSPC', 'no space is left on the disk', 'Free some space'],
    ['EROFS', 'the file system is read-only', 'Make it writable'],
    ['EIO', 'the disk reported an error', 'Check the disk'],
    ['EWEIRD', 'EWEIRD: made up', 'Fix this'],
  ])('of a sync (%s), with what is kept and a hint', async (code, reason, cure) => {
    const { file, disk, journal } = await journalOn();
    await journal.append([change(1)]);
    disk.failSync = code;
    const refusal = await refusalOf(() => journal.append([change(2)]));
    expect(refusal.message).toBe(`${file} cannot be written: ${reason}.`);
    expect(refusal.hint).toContain(cure);
    expect(refusal.hint).toContain('then continue with `raymond resume run-1`. The run is kept up to step 1;');
    expect(refusal.exitCode).toBe(3);
    disk.failSync = undefined;
    const { writes } = disk;
    expect(await refusalOf(() => journal.append([change(3)]))).toBe(refusal);
    expect([disk.writes, journal.isHealthy]).toStrictEqual([writes, false]);
    await journal.close();
  });

  test('of the first line of a new run: there is none to continue with', async () => {
    const { file, disk, journal } = await journalOn({ isNew: true });
    disk.failSync = 'EFBIG';
    const refusal = await refusalOf(() => journal.append([change(0)]));
    expect([refusal.message, refusal.hint, refusal.exitCode]).toStrictEqual([
      `${file} cannot be written: files may not become that large.`,
      'Raise the limit with `ulimit -f`, then try again. Nothing was started.',
      64,
    ]);
    await journal.close();
  });

  test('of a partial write, also for waiting appends', async () => {
    const { file, disk, journal } = await journalOn();
    await journal.append([change(1)]);
    disk.space = 10;
    let openGate = (): void => {};
    disk.gate = new Promise((resolve) => {
      openGate = resolve;
    });
    const outcomes = [2, 3].map((seq) => refusalOf(() => journal.append([change(seq)])));
    openGate();
    const [one, other] = await Promise.all(outcomes);
    expect(one?.message).toContain('no space is left');
    expect(other).toBe(one);
    await journal.close();
    expect(readFileSync(file, 'utf8').split('\n').at(-1)).toBe(
      JSON.stringify({ v: RUN_VERSION, ...change(2) }).slice(0, 10),
    );
  });
});

test('a journal that cannot be opened is refused', async () => {
  const refusal = await refusalOf(() => Journal.open('/proc/nowhere/journal.jsonl', { seq: 4, offset: 0 }));
  expect(refusal.message).toMatch(/^\/proc\/nowhere\/journal\.jsonl cannot be written: /);
});
