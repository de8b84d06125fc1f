import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { layoutOf } from '../../../src/disk/layout.ts';
import { createTurnFolder } from '../../../src/disk/turn-folder.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { loadRun } from '../../../src/storage/files/load.ts';
import { fixedHistory, randomHistory, refusalOf, runAfter } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';
import { Disk } from './disk.ts';

const temporary = temporaryFolders();
const layoutHere = () => layoutOf(join(temporary(), '.raymond'));

/** Processes of which each finds the previous one gone. */
const life = (number: number) => ({
  durable: false,
  facts: { pid: process.pid, startTime: null, bootId: `life ${number}`, namespace: null, host: 'here' },
});

describe('a run that is not synced', () => {
  test('behaves like any other', async () => {
    await fc.assert(
      fc.asyncProperty(randomHistory(20), async (history) => {
        const layout = layoutHere();
        const lease = await createFileLeases(layout, { durable: false }).create(history);
        for (const step of history.steps) await lease.append([step]);
        await lease.release();
        expect((await loadRun(layout, 'run-1', { cut: false })).run).toStrictEqual(
          runAfter(history, history.steps.length),
        );
        expect(readdirSync(layout.runFolder('run-1'))).toStrictEqual(['journal.jsonl']);
      }),
      { numRuns: 20 },
    );
  });

  test('is never synced', async () => {
    const disk = new Disk();
    const history = fixedHistory(4);
    const lease = await createFileLeases(layoutHere(), { durable: true, openFile: disk.open }).create(history);
    await lease.append(history.steps);
    await lease.release();
    expect(disk.syncs).toBeGreaterThan(0);
    const layout = layoutHere();
    const syncs = vi.spyOn(Object.getPrototypeOf(await handleOf(layout.root)), 'datasync');
    const fleeting = await createFileLeases(layout, { durable: false }).create(history);
    await createTurnFolder(layout, 'run-1', { agent: 'main', number: 1, state: 'A.md' }, { stdin: 'x' }, false);
    await fleeting.append(history.steps);
    await fleeting.release();
    expect(syncs).not.toHaveBeenCalled();
    syncs.mockRestore();
  });

  test('is refused if its id is taken', async () => {
    const layout = layoutHere();
    const history = fixedHistory(0);
    const lease = await createFileLeases(layout, { durable: false }).create(history);
    const refusal = await refusalOf(() => createFileLeases(layout, { durable: false }).create(history));
    expect(refusal.message).toBe('A run run-1 already exists.');
    await lease.release();
  });
});

/** Any open file: what its methods do is seen on what it inherits from. */
async function handleOf(folder: string): Promise<object> {
  const { mkdir, open } = await import('node:fs/promises');
  await mkdir(folder, { recursive: true });
  const handle = await open(join(folder, 'any'), 'w');
  await handle.close();
  return handle;
}

describe('an abandoned run', () => {
  test('is left like that of a killed process, and the next owner continues from what was saved', async () => {
    const layout = layoutHere();
    const history = fixedHistory(6);
    const lease = await createFileLeases(layout, life(1)).create(history);
    const before = readFileSync(layout.stateFile('run-1'), 'utf8');
    await lease.append(history.steps.slice(0, 4));
    lease.abandon();
    expect(existsSync(join(layout.runFolder('run-1'), 'owner.1'))).toBe(true);
    expect(readFileSync(layout.stateFile('run-1'), 'utf8')).toBe(before);
    await expect(lease.append(history.steps.slice(4, 5))).rejects.toThrow('cannot be written');

    const next = await createFileLeases(layout, life(2)).acquire('run-1');
    expect(next.run).toStrictEqual(runAfter(history, 4));
    await next.append(history.steps.slice(4));
    await next.release();
    expect((await loadRun(layout, 'run-1', { cut: false })).run).toStrictEqual(runAfter(history, history.steps.length));
  });

  test('is never written again, not even its pending state file', async () => {
    const layout = layoutHere();
    const history = fixedHistory(4);
    vi.useFakeTimers();
    try {
      const lease = await createFileLeases(layout, life(1)).create(history);
      const before = readFileSync(layout.stateFile('run-1'), 'utf8');
      const saving = lease.append(history.steps);
      lease.abandon();
      await saving.catch(() => {});
      await vi.advanceTimersByTimeAsync(100_000);
      expect(readFileSync(layout.stateFile('run-1'), 'utf8')).toBe(before);
    } finally {
      vi.useRealTimers();
    }
  });
});
