import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { layoutOf } from '../../src/store/layout.ts';
import { loadRun } from '../../src/store/load.ts';
import { createRun, openStore } from '../../src/store/store.ts';
import { createTurnFolder } from '../../src/store/turn-folder.ts';
import { Disk } from './disk.ts';
import { fixedHistory, randomHistory, refusalOf, runAfter } from './run-history.ts';
import { temporaryFolders } from './temp.ts';

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
        const store = await createRun(layout, history.run, history.events, { durable: false });
        for (const step of history.steps) await store.save([step]);
        await store.close();
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
    const store = await createRun(layoutHere(), history.run, history.events, { durable: true, openFile: disk.open });
    await store.save(history.steps);
    await store.close();
    expect(disk.syncs).toBeGreaterThan(0);
    const layout = layoutHere();
    const syncs = vi.spyOn(Object.getPrototypeOf(await handleOf(layout.root)), 'datasync');
    const fleeting = await createRun(layout, history.run, history.events, { durable: false });
    await createTurnFolder(layout, 'run-1', { agent: 'main', number: 1, state: 'A.md' }, { stdin: 'x' }, false);
    await fleeting.save(history.steps);
    await fleeting.close();
    expect(syncs).not.toHaveBeenCalled();
    syncs.mockRestore();
  });

  test('is refused if its id is taken', async () => {
    const layout = layoutHere();
    const history = fixedHistory(0);
    const store = await createRun(layout, history.run, history.events, { durable: false });
    const refusal = await refusalOf(() => createRun(layout, history.run, history.events, { durable: false }));
    expect(refusal.message).toBe('A run run-1 already exists.');
    await store.close();
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
    const store = await createRun(layout, history.run, history.events, life(1));
    const before = readFileSync(layout.stateFile('run-1'), 'utf8');
    await store.save(history.steps.slice(0, 4));
    store.abandon();
    expect(existsSync(join(layout.runFolder('run-1'), 'owner.1'))).toBe(true);
    expect(readFileSync(layout.stateFile('run-1'), 'utf8')).toBe(before);
    await expect(store.save(history.steps.slice(4, 5))).rejects.toThrow('cannot be written');

    const next = await openStore(layout, 'run-1', life(2));
    expect(next.run).toStrictEqual(runAfter(history, 4));
    await next.store.save(history.steps.slice(4));
    await next.store.close();
    expect((await loadRun(layout, 'run-1', { cut: false })).run).toStrictEqual(runAfter(history, history.steps.length));
  });

  test('is never written again, not even its pending state file', async () => {
    const layout = layoutHere();
    const history = fixedHistory(4);
    vi.useFakeTimers();
    try {
      const store = await createRun(layout, history.run, history.events, life(1));
      const before = readFileSync(layout.stateFile('run-1'), 'utf8');
      const saving = store.save(history.steps);
      store.abandon();
      await saving.catch(() => {});
      await vi.advanceTimersByTimeAsync(100_000);
      expect(readFileSync(layout.stateFile('run-1'), 'utf8')).toBe(before);
    } finally {
      vi.useRealTimers();
    }
  });
});
