import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { layoutOf } from '../../../src/disk/layout.ts';
import type { RaymondError } from '../../../src/errors.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { loadRun } from '../../../src/storage/files/load.ts';
import type { SavedRun } from '../../../src/storage/run-file.ts';
import type { RunLease } from '../../../src/storage/storage.ts';
import { fixedHistory, type RunHistory, randomHistory, refusalOf, runAfter } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';
import { Disk } from './disk.ts';

const temporary = temporaryFolders();
const NEVER = 1e9;

const layoutHere = () => layoutOf(join(temporary(), '.raymond'));
const create = (layout: ReturnType<typeof layoutOf>, { run, events }: RunHistory, options = {}): Promise<RunLease> =>
  createFileLeases(layout, { snapshotEveryMs: NEVER, ...options }).create({ run, events });
const load = async (layout: ReturnType<typeof layoutOf>, id = 'run-1') =>
  (await loadRun(layout, id, { cut: false })).run;
const stateFile = (layout: ReturnType<typeof layoutOf>): SavedRun & { status: string; seq: number } =>
  JSON.parse(readFileSync(layout.stateFile('run-1'), 'utf8'));

describe('a new run', () => {
  test('exists as soon as it is created, with its status at the top of a private file', async () => {
    const layout = layoutHere();
    const history = fixedHistory(0);
    const lease = await create(layout, history);
    expect(await load(layout)).toStrictEqual(history.run);
    expect(stateFile(layout)).toMatchObject({ id: 'run-1', status: 'running', seq: 0, journal: { seq: 0 } });
    for (const file of [
      layout.stateFile('run-1'),
      layout.journalFile('run-1'),
      join(layout.runFolder('run-1'), 'owner.1'),
    ]) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    for (const folder of [layout.root, layout.stateFolder, layout.runFolder('run-1')]) {
      expect(statSync(folder).mode & 0o777).toBe(0o700);
    }
    expect(readdirSync(layout.stateFolder)).toStrictEqual(['run-1.json']);
    await lease.release();
  });

  test('is ignored by git, except for the config file; an existing .gitignore is kept', async () => {
    const layout = layoutHere();
    await (await create(layout, fixedHistory(0))).release();
    const file = join(layout.root, '.gitignore');
    expect(readFileSync(file, 'utf8').split('\n')).toContain('!config.toml');
    const own = layoutHere();
    mkdirSync(own.root);
    writeFileSync(join(own.root, '.gitignore'), 'mine');
    await (await create(own, fixedHistory(0))).release();
    expect(readFileSync(join(own.root, '.gitignore'), 'utf8')).toBe('mine');
  });

  test('is refused if its id is taken, whether its owner is alive or not', async () => {
    const layout = layoutHere();
    const lease = await create(layout, fixedHistory(0));
    const before = readFileSync(layout.stateFile('run-1'), 'utf8');
    for (let again = 0; again < 2; again++) {
      const refusal = await refusalOf(() => create(layout, fixedHistory(0)));
      expect(refusal.message).toBe('A run run-1 already exists.');
      expect(refusal.exitCode).toBe(64);
      expect(refusal.hint).toContain('raymond resume run-1');
      await lease.release();
    }
    expect(readFileSync(layout.stateFile('run-1'), 'utf8')).toBe(before);
  });

  test('is created once if many request its id at the same time', async () => {
    const layout = layoutHere();
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => create(layout, fixedHistory(0))));
    const made = tries.filter((one) => one.status === 'fulfilled');
    expect(made).toHaveLength(1);
    await made[0]?.value.release();
    expect(await load(layout)).toStrictEqual(fixedHistory(0).run);
  });

  test('is refused with an invalid id', async () => {
    const refusal = await refusalOf(() => create(layoutHere(), fixedHistory(0, '../x')));
    expect(refusal.message).toContain('`../x` cannot be a run');
    expect(refusal.exitCode).toBe(64);
  });

  test('removes files of a process that died before the run existed', async () => {
    const layout = layoutHere();
    mkdirSync(layout.runFolder('run-1'), { recursive: true });
    writeFileSync(layout.journalFile('run-1'), '{"seq":0,"he');
    const history = fixedHistory(6);
    const lease = await create(layout, history);
    await lease.append(history.steps);
    expect(await load(layout)).toStrictEqual(runAfter(history, history.steps.length));
    await lease.release();
  });

  test('does not replace turns whose state file is gone', async () => {
    const layout = layoutHere();
    mkdirSync(layout.turnsFolder('run-1'), { recursive: true });
    const refusal = await refusalOf(() => create(layout, fixedHistory(0)));
    expect(refusal.message).toContain('holds turns of a run whose state file is gone');
    expect(readdirSync(layout.runFolder('run-1'))).toStrictEqual(['turns']);
  });

  test('does not exist if the disk was full', async () => {
    const layout = layoutHere();
    const disk = new Disk();
    disk.space = 20;
    const refusal = await refusalOf(() => create(layout, fixedHistory(0), { openFile: disk.open }));
    expect(refusal.message).toContain('no space is left on the disk');
    expect((await refusalOf(() => load(layout))).message).toBe('no such run: run-1');
    expect(readdirSync(layout.runFolder('run-1'))).toStrictEqual([]);
    await (await create(layout, fixedHistory(0))).release();
  });
});

test('a run loads as it was, at any position of its state file and with any batches of steps', async () => {
  await fc.assert(
    fc.asyncProperty(
      randomHistory(),
      fc.nat(40),
      fc.array(fc.integer({ min: 1, max: 5 })),
      async (history, at, bundles) => {
        const layout = layoutHere();
        const lease = await create(layout, history);
        const steps = [...history.steps];
        for (let saved = 0; steps.length > 0; ) {
          if (saved >= at && stateFile(layout).seq === 0) await lease.snapshot();
          const bundle = steps.splice(0, bundles.pop() ?? 1);
          saved += bundle.length;
          await lease.append(bundle);
          const live = runAfter(history, saved);
          expect(await load(layout)).toStrictEqual(live);
        }
        await lease.release();
        const end = runAfter(history, history.steps.length);
        expect(await load(layout)).toStrictEqual(end);
        expect(stateFile(layout)).toMatchObject({ seq: end.seq, status: end.status, journal: { seq: end.seq } });
      },
    ),
    { numRuns: 40 },
  );
});

test('a closed run continues where it was, every time', async () => {
  const layout = layoutHere();
  const history = fixedHistory(60);
  await (await create(layout, history)).release();
  for (const taken of history.steps) {
    const lease = await createFileLeases(layout).acquire('run-1');
    const { run } = lease;
    expect(run).toStrictEqual(taken.before);
    await lease.append([taken]);
    await lease.release();
  }
  expect(await load(layout)).toStrictEqual(runAfter(history, history.steps.length));
  expect(readdirSync(layout.runFolder('run-1'))).toStrictEqual(['journal.jsonl']);
});

test('a killed run has a current state file once it was opened and closed again', async () => {
  const layout = layoutHere();
  const history = fixedHistory(12);
  const lease = await create(layout, history);
  const first = readFileSync(layout.stateFile('run-1'));
  await lease.append(history.steps);
  await lease.release();
  writeFileSync(layout.stateFile('run-1'), first);
  await (await createFileLeases(layout).acquire('run-1')).release();
  expect(stateFile(layout).seq).toBe(history.steps.length);
});

test('steps that are saved without waiting are kept in order', async () => {
  const layout = layoutHere();
  const history = fixedHistory(60);
  const disk = new Disk();
  const lease = await create(layout, history, { openFile: disk.open });
  await Promise.all(history.steps.map((taken) => lease.append([taken])));
  expect(await load(layout)).toStrictEqual(runAfter(history, history.steps.length));
  expect(disk.syncs).toBeLessThan(5);
  await lease.release();
});

test('a step out of order is a bug that never reaches the disk', async () => {
  const layout = layoutHere();
  const history = fixedHistory(6);
  const lease = await create(layout, history);
  await expect(lease.append(history.steps.slice(1))).rejects.toThrow('step 2 of run run-1 cannot follow step 0');
  expect(await load(layout)).toStrictEqual(history.run);
  await lease.release();
});

describe('the state file', () => {
  test('is written within its interval, and never ahead of the journal', async () => {
    const layout = layoutHere();
    const history = fixedHistory(30);
    const lease = await create(layout, history, { snapshotEveryMs: 1 });
    for (const taken of history.steps) {
      await lease.append([taken]);
      expect(stateFile(layout).seq).toBeLessThanOrEqual(taken.step.run.seq);
    }
    await vi.waitFor(() => expect(stateFile(layout).seq).toBe(history.steps.length), { interval: 1 });
    expect(await load(layout)).toStrictEqual(runAfter(history, history.steps.length));
    await lease.release();
  });

  test('is not written more often than allowed', async () => {
    const layout = layoutHere();
    const history = fixedHistory(30);
    const lease = await create(layout, history, { snapshotEveryMs: 60_000 });
    for (const taken of history.steps) await lease.append([taken]);
    expect(stateFile(layout).seq).toBe(0);
    await lease.snapshot();
    expect(stateFile(layout).seq).toBe(history.steps.length);
    await lease.release();
  });

  test('loses nothing if it cannot be written: the journal has everything', async () => {
    const layout = layoutHere();
    const history = fixedHistory(6);
    const lease = await create(layout, history);
    await lease.append(history.steps);
    mkdirSync(join(layout.stateFolder, '.run-1.json.1.tmp'));
    const refusal = await refusalOf(() => lease.release());
    expect(refusal.message).toContain(`${layout.stateFile('run-1')} cannot be written: `);
    expect(refusal.hint).toContain('Nothing that was saved is lost');
    expect(await load(layout)).toStrictEqual(runAfter(history, history.steps.length));
    rmSync(join(layout.stateFolder, '.run-1.json.1.tmp'), { recursive: true, force: true, maxRetries: 5 });
    const again = await createFileLeases(layout).acquire('run-1');
    expect(again.run.seq).toBe(history.steps.length);
    await again.release();
  });
});

/** Saves steps one by one until one is refused. */
async function saveAll(
  lease: RunLease,
  { steps }: RunHistory,
): Promise<{ saved: number; refusal: RaymondError | undefined }> {
  for (const [saved, taken] of steps.entries()) {
    const refusal = await lease.append([taken]).then(
      () => undefined,
      (error: RaymondError) => error,
    );
    if (refusal !== undefined) return { saved, refusal };
  }
  return { saved: steps.length, refusal: undefined };
}

test('on a full disk the run is kept up to a complete step and continues from there', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(6000), async (space) => {
      const layout = layoutHere();
      const history = fixedHistory(12);
      const disk = new Disk();
      const lease = await create(layout, history, { openFile: disk.open });
      disk.space = space;
      const { saved, refusal } = await saveAll(lease, history);
      if (refusal !== undefined) {
        expect(refusal.message).toContain('no space is left on the disk');
        expect(refusal.hint).toContain(`kept up to step ${saved};`);
      }
      await lease.release();
      const again = await createFileLeases(layout).acquire('run-1');
      const { run } = again;
      expect(run).toStrictEqual(runAfter(history, saved));
      await again.append(history.steps.slice(saved));
      await again.release();
      expect(await load(layout)).toStrictEqual(runAfter(history, history.steps.length));
    }),
    { numRuns: 30 },
  );
});

test('after a failure nothing more is saved, even if there is space again', async () => {
  const layout = layoutHere();
  const history = fixedHistory(6);
  const disk = new Disk();
  const lease = await create(layout, history, { openFile: disk.open });
  disk.space = 5;
  const [first, second, ...rest] = history.steps;
  if (first === undefined || second === undefined) throw new Error('the story is too short');
  const refusal = await refusalOf(() => lease.append([first]));
  disk.space = Number.POSITIVE_INFINITY;
  expect(await refusalOf(() => lease.append([second, ...rest]))).toBe(refusal);
  await lease.release();
  expect(await load(layout)).toStrictEqual(history.run);
});

describe('a missing journal', () => {
  test('is tolerated if the state file covers it, and is started again', async () => {
    const layout = layoutHere();
    const history = fixedHistory(12);
    const lease = await create(layout, history);
    await lease.append(history.steps.slice(0, 6));
    await lease.release();
    rmSync(layout.runFolder('run-1'), { recursive: true });
    expect(await load(layout)).toStrictEqual(runAfter(history, 6));
    expect(existsSync(layout.runFolder('run-1'))).toBe(false);
    const again = await createFileLeases(layout, { snapshotEveryMs: NEVER }).acquire('run-1');
    await again.append(history.steps.slice(6));
    expect(await load(layout)).toStrictEqual(runAfter(history, history.steps.length));
    await again.release();
    expect(await load(layout)).toStrictEqual(runAfter(history, history.steps.length));
  });
});
