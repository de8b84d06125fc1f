import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type FolderLayout, layoutOf } from '../../../src/disk/layout.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { resolveRunId } from '../../../src/storage/files/runs.ts';
import type { RunLease } from '../../../src/storage/storage.ts';
import { fixedHistory, refusalOf, runAfter } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';
import { storageOf } from './open-files.ts';

const temporary = temporaryFolders();
const layoutHere = (): FolderLayout => layoutOf(join(temporary(), '.raymond'));

const make = (layout: FolderLayout, id: string, startedAt = 0): Promise<RunLease> => {
  const { run, events } = fixedHistory(0, id);
  return createFileLeases(layout, { snapshotEveryMs: 1e9 }).create({ run: { ...run, startedAt }, events });
};

describe('a list of runs', () => {
  test('is empty where there are none', async () => {
    expect(await storageOf(layoutHere()).runs.list('summaries')).toStrictEqual([]);
  });

  test('has the current status of each, even if its state file is behind', async () => {
    const layout = layoutHere();
    const history = fixedHistory(30);
    const lease = await createFileLeases(layout, { snapshotEveryMs: 1e9 }).create(history);
    const [driven] = await storageOf(layout).runs.list('summaries');
    const owner = { state: 'alive', pid: process.pid, host: hostname() };
    expect(driven).toMatchObject({ id: 'run-1', observedStatus: 'running', owner, agents: { ready: 1 } });
    await lease.append(history.steps);
    const { name, ledger, agents, workflow, status } = runAfter(history, history.steps.length);
    const [run, ...more] = await storageOf(layout).runs.list('summaries');
    expect(more).toStrictEqual([]);
    expect(run).toMatchObject({
      kind: 'run',
      id: 'run-1',
      name,
      observedStatus: status,
      workflow,
      startedAt: 1000,
      ledger,
    });
    const counts = run?.kind === 'run' ? Object.values(run.agents) : [];
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(agents.length);
    await lease.release();
  });

  test('has the latest first, and tolerates a file that cannot be read', async () => {
    const layout = layoutHere();
    for (const [id, at] of [
      ['b', 1],
      ['a', 3],
      ['c', 2],
    ] as const)
      await (await make(layout, id, at)).release();
    writeFileSync(layout.stateFile('broken'), '{');
    writeFileSync(join(layout.stateFolder, '.a.json.tmp'), '{');
    const runs = await storageOf(layout).runs.list('summaries');
    expect(runs.map(({ id }) => id)).toStrictEqual(['a', 'c', 'b', 'broken']);
    expect(runs[3]?.kind === 'unreadable' && runs[3].error.message).toContain('it is not JSON');
  });
});

describe('a run is found', () => {
  async function three(): Promise<FolderLayout> {
    const layout = layoutHere();
    const ids = [
      ['book-1', 5],
      ['book-2', 9],
      ['film-3', 7],
    ] as const;
    for (const [id, at] of ids) await (await make(layout, id, at)).release();
    return layout;
  }

  test.each([
    ['by its id', 'book-1', 'book-1'],
    ['by the beginning of its id', 'f', 'film-3'],
    ['as the last one that was started', 'last', 'book-2'],
  ])('%s', async (_, wanted, id) => {
    expect(await resolveRunId(await three(), wanted)).toBe(id);
  });

  test.each([
    ['nothing near it', 'zzz', 'no such run: zzz'],
    ['a slip of the finger', 'bokk-1', 'no such run: bokk-1 (did you mean book-1?)'],
    ['a slip in the beginning of several', 'bok', 'no such run: bok (did you mean book-1 or book-2?)'],
    ['the end of one', 'm-3', 'no such run: m-3 (did you mean film-3?)'],
    ['several that fit', 'book', '`book` may be any of 2 runs: book-1, book-2.'],
    ['no word at all', '', 'no such run: '],
    ['a path', '../state/book-1', 'no such run: ../state/book-1'],
  ])('only if it is unambiguous: %s', async (_, wanted, message) => {
    const layout = await three();
    const refusal = await refusalOf(() => resolveRunId(layout, wanted));
    expect(refusal.message).toBe(message);
    expect(refusal.exitCode).toBe(64);
    expect(refusal.hint).toBeDefined();
  });

  test('only if it is unambiguous, else the latest of many candidates are named', async () => {
    const layout = layoutHere();
    for (let day = 10; day < 20; day++) await (await make(layout, `book-${day}`)).release();
    const refusal = await refusalOf(() => resolveRunId(layout, 'book'));
    expect(refusal.message).toBe(
      '`book` may be any of 10 runs: book-15, book-16, book-17, book-18, book-19 and 5 more.',
    );
    expect((await refusalOf(() => resolveRunId(layout, 'boook-1'))).message).toContain(
      '(did you mean book-17, book-18 or book-19?)',
    );
  });

  test('by `last`, which skips runs that cannot be read', async () => {
    const layout = await three();
    writeFileSync(layout.stateFile('zoo'), '{');
    expect(await resolveRunId(layout, 'last')).toBe('book-2');
  });

  test('also if it is called `last`', async () => {
    const layout = await three();
    await (await make(layout, 'last', 1)).release();
    expect(await resolveRunId(layout, 'last')).toBe('last');
  });

  test('nowhere if there are none', async () => {
    const layout = layoutHere();
    expect((await refusalOf(() => resolveRunId(layout, 'last'))).hint).toBe(`There are no runs in ${layout.root} yet.`);
  });
});
