import { copyFileSync, readFileSync, renameSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readArchivedAgents } from '../../src/app/status.ts';
import { layoutOf } from '../../src/disk/layout.ts';
import { createFileJournal } from '../../src/storage/files/journal.ts';
import { createFileLeases } from '../../src/storage/files/lease.ts';
import { loadRun } from '../../src/storage/files/load.ts';
import { dispatcherHistory } from '../storage/dispatcher-history.ts';
import { runAfter } from '../storage/run-history.ts';
import { temporaryFolders } from '../storage/temp.ts';

const temporary = temporaryFolders();
const NEVER = { snapshotEveryMs: 1e9 };
const history = dispatcherHistory(9, { kept: 3, batch: 2 });
const { steps, archived } = history;

/** The run on disk, with its state file as of that step. */
async function savedRun(snapshotAt: number) {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const lease = await createFileLeases(layout, NEVER).create(history);
  await lease.append(steps.slice(0, snapshotAt));
  await lease.snapshot();
  const kept = join(layout.root, 'kept.json');
  copyFileSync(layout.stateFile('run-1'), kept);
  await lease.append(steps.slice(snapshotAt));
  await lease.release();
  copyFileSync(kept, layout.stateFile('run-1'));
  return layout;
}

const archivingSteps = steps.flatMap(({ before, step }, at) => (before.archive === step.run.archive ? [] : [at]));

describe('a run that archives agents', () => {
  test('loads as it was, wherever its state file and its journal end', async () => {
    expect(archivingSteps).toHaveLength(3);
    for (const at of archivingSteps) {
      for (const snapshotAt of [at - 1, at, at + 1]) {
        const layout = await savedRun(snapshotAt);
        const file = layout.journalFile('run-1');
        const ends = [...readFileSync(file).entries()].flatMap(([offset, byte]) => (byte === 10 ? [offset + 1] : []));
        for (let size = ends[at + 2] ?? 0; size >= (ends[snapshotAt] ?? 0); size -= 13) {
          truncateSync(file, size);
          const { run } = await loadRun(layout, 'run-1', { cut: false });
          expect(run).toStrictEqual(runAfter(history, ends.filter((end) => end <= size).length - 1));
        }
      }
    }
  });

  test('continues after a crash as if there had been none', async () => {
    for (const at of archivingSteps) {
      const layout = await savedRun(at);
      const lineEnds = [...readFileSync(layout.journalFile('run-1')).entries()].filter(([, byte]) => byte === 10);
      // The step that archives is cut off in the middle.
      truncateSync(layout.journalFile('run-1'), (lineEnds[at]?.[0] ?? 0) + 30);
      const lease = await createFileLeases(layout, NEVER).acquire('run-1');
      const { run } = lease;
      expect(run).toStrictEqual(runAfter(history, at));
      await lease.append(steps.slice(at));
      await lease.release();
      expect((await loadRun(layout, 'run-1', { cut: false })).run).toStrictEqual(runAfter(history, steps.length));
      expect(await readArchivedAgents(createFileJournal(layout), 'run-1', steps.length)).toStrictEqual(archived);
    }
  });

  test('finds them in its journal as they were when they ended', async () => {
    const layout = await savedRun(5);
    expect(archived.map(({ id }) => id)).toStrictEqual([1, 2, 3, 4, 5, 6].map((number) => `main_work${number}`));
    expect(await readArchivedAgents(createFileJournal(layout), 'run-1', steps.length)).toStrictEqual(archived);
    const beforeLast = archivingSteps.at(-1) ?? 0;
    expect(await readArchivedAgents(createFileJournal(layout), 'run-1', beforeLast)).toStrictEqual(
      archived.slice(0, 4),
    );
  });

  test('does without those in a journal that was moved away', async () => {
    const layout = await savedRun((archivingSteps[0] ?? 0) + 1);
    renameSync(layout.journalFile('run-1'), join(layout.root, 'moved'));
    expect(await readArchivedAgents(createFileJournal(layout), 'run-1', steps.length)).toStrictEqual([]);
    const lease = await createFileLeases(layout, NEVER).acquire('run-1');
    const { run } = lease;
    await lease.append(steps.slice(run.seq));
    await lease.release();
    const left = await readArchivedAgents(createFileJournal(layout), 'run-1', steps.length);
    expect(left).toStrictEqual(archived.slice(-left.length));
    expect(left.length).toBeGreaterThan(0);
  });
});
