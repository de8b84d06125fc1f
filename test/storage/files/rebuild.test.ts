import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RUN_VERSION } from '../../../src/core/run/run.ts';
import { type FolderLayout, layoutOf } from '../../../src/disk/layout.ts';
import { identifyThisProcess } from '../../../src/process/identity.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { loadRun } from '../../../src/storage/files/load.ts';
import { listRunIds } from '../../../src/storage/files/runs.ts';
import { readEvents } from '../read-events.ts';
import { resealLine } from '../reseal.ts';
import { fixedHistory, randomHistory, refusalOf, runAfter } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';
import { storageOf } from './open-files.ts';

const temporary = temporaryFolders();
const HISTORY = fixedHistory(12);
const WHOLE = runAfter(HISTORY, HISTORY.steps.length);

async function savedRun(history = HISTORY): Promise<FolderLayout> {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const lease = await createFileLeases(layout, { snapshotEveryMs: 1e9, durable: false }).create(history);
  await lease.append(history.steps);
  await lease.release();
  return layout;
}

/** Changes the first line of the journal, whose checksum then fits again. */
function editFirstLine(layout: FolderLayout, edit: (line: Record<string, unknown>) => void): void {
  const file = layout.journalFile('run-1');
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  const line = JSON.parse(first);
  edit(line);
  writeFileSync(file, [resealLine(JSON.stringify(line)), ...rest].join('\n'));
}

describe('the journal is enough to load a run', () => {
  test('whose state file is missing', async () => {
    const layout = await savedRun();
    const before = await loadRun(layout, 'run-1', { cut: false });
    rmSync(layout.stateFolder, { recursive: true });
    const { stateFileProblem, ...loaded } = await loadRun(layout, 'run-1', { cut: false });
    expect({ ...loaded, stateFileProblem: null }).toStrictEqual(before);
    expect(stateFileProblem).toBe('missing');
  });

  test('after any history', async () => {
    await fc.assert(
      fc.asyncProperty(randomHistory(), async (history) => {
        const layout = await savedRun(history);
        rmSync(layout.stateFile('run-1'));
        const { run } = await loadRun(layout, 'run-1', { cut: false });
        expect(run).toStrictEqual(runAfter(history, history.steps.length));
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ['is empty', ''],
    ['was cut off', '{"version": 4, "id": "run-1"'],
    ['has lost its checksum', `${JSON.stringify(WHOLE)}\n`],
    ['is something else', 'hello\n'],
  ])('whose state file %s', async (_, text) => {
    const layout = await savedRun();
    writeFileSync(layout.stateFile('run-1'), text);
    const { run, stateFileProblem } = await loadRun(layout, 'run-1', { cut: false });
    expect(run).toStrictEqual(WHOLE);
    expect(stateFileProblem).toBe('damaged');
    expect(readFileSync(layout.stateFile('run-1'), 'utf8')).toBe(text);
  });

  test('and its events', async () => {
    const layout = await savedRun();
    const collect = async (): Promise<readonly unknown[]> => {
      const events: unknown[] = [];
      for await (const event of readEvents(layout, 'run-1')) events.push(event);
      return events;
    };
    const before = await collect();
    rmSync(layout.stateFile('run-1'));
    expect(await collect()).toStrictEqual(before);
  });
});

test('a run without a state file is listed, and opening it writes the file again', async () => {
  const layout = await savedRun();
  rmSync(layout.stateFolder, { recursive: true });
  const damage = [
    'The state file of run-1 is missing: the run is read from its journal, and a resume writes the file again.',
  ];
  expect(await storageOf(layout).runs.list('summaries')).toMatchObject([{ kind: 'run', id: 'run-1', damage }]);
  const lease = await createFileLeases(layout).acquire('run-1');
  await lease.release();
  expect(lease.run).toStrictEqual(WHOLE);
  expect(lease.damage).toStrictEqual(damage);
  const { stateFileProblem, run: again } = await loadRun(layout, 'run-1', { cut: false });
  expect([stateFileProblem, again]).toStrictEqual([null, WHOLE]);
});

test('the processes of a rebuilt run keep their mark, and after a reboot its turns are doubtful', async () => {
  const layout = await savedRun({ ...HISTORY, steps: HISTORY.steps.slice(0, 1) });
  const { mark } = await loadRun(layout, 'run-1', { cut: false });
  rmSync(layout.stateFile('run-1'));
  const facts = { ...(await identifyThisProcess()), bootId: 'another' };
  const lease = await createFileLeases(layout, { facts }).acquire('run-1');
  const { run } = lease;
  const running = run.agents.flatMap(({ id, phase }) =>
    phase.kind === 'running' ? [{ agent: id, number: phase.turn.number }] : [],
  );
  expect(running.length).toBeGreaterThan(0);
  expect(running.every((turn) => lease.isDoubtful(turn))).toBe(true);
  expect(lease.mark).toBe(mark);
  await lease.release();
});

describe('without a state file, a run is refused with a sentence', () => {
  test('if its journal does not say how it began, as that of an older Raymond', async () => {
    const layout = await savedRun();
    rmSync(layout.stateFile('run-1'));
    editFirstLine(layout, (line) => delete line.start);
    const { message, exitCode } = await refusalOf(() => loadRun(layout, 'run-1', { cut: false }));
    expect(message).toBe(
      `${layout.stateFile('run-1')} is missing, and ${layout.journalFile('run-1')} does not say how the run began.`,
    );
    expect(exitCode).toBe(65);
    expect(await storageOf(layout).runs.list('summaries')).toMatchObject([{ kind: 'unreadable', id: 'run-1' }]);
  });

  test('if the first line of its journal is damaged, too', async () => {
    const layout = await savedRun();
    rmSync(layout.stateFile('run-1'));
    const file = layout.journalFile('run-1');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"start"', '"stort"'));
    const { message } = await refusalOf(() => loadRun(layout, 'run-1', { cut: false }));
    expect(message).toBe(
      `${layout.stateFile('run-1')} is missing, and ${file} cannot replace it: its first line is broken.`,
    );
  });

  test('if a newer Raymond began it', async () => {
    const layout = await savedRun();
    rmSync(layout.stateFile('run-1'));
    editFirstLine(layout, ({ start }) => Object.assign(start as object, { version: RUN_VERSION + 1 }));
    const { message } = await refusalOf(() => loadRun(layout, 'run-1', { cut: false }));
    expect(message).toBe(
      `${layout.journalFile('run-1')} has version ${RUN_VERSION + 1}; this Raymond reads versions 1 to ${RUN_VERSION}.`,
    );
  });
});

test('a damaged state file whose journal is of an older Raymond is refused as damaged', async () => {
  const layout = await savedRun();
  editFirstLine(layout, (line) => delete line.start);
  writeFileSync(layout.stateFile('run-1'), '');
  const { message } = await refusalOf(() => loadRun(layout, 'run-1', { cut: false }));
  expect(message).toBe(
    `${layout.stateFile('run-1')} is damaged, and ${layout.journalFile('run-1')} does not say how the run began.`,
  );
});

describe('a run exists from the moment that the first line of its journal does', () => {
  test('so it is found if its process died before the state file was there', async () => {
    const layout = await savedRun({ ...HISTORY, steps: [] });
    rmSync(layout.stateFile('run-1'));
    expect(await listRunIds(layout)).toStrictEqual(['run-1']);
    const { message } = await refusalOf(() => createFileLeases(layout).create(HISTORY));
    expect(message).toBe('A run run-1 already exists.');
  });

  test('and not with less than that line', async () => {
    const layout = await savedRun({ ...HISTORY, steps: [] });
    rmSync(layout.stateFile('run-1'));
    writeFileSync(layout.journalFile('run-1'), '');
    expect(await listRunIds(layout)).toStrictEqual([]);
    const lease = await createFileLeases(layout, { durable: false }).create(HISTORY);
    await lease.release();
    expect((await loadRun(layout, 'run-1', { cut: false })).run).toStrictEqual(HISTORY.run);
  });

  test('and not if the start was refused', async () => {
    const layout = layoutOf(join(temporary(), '.raymond'));
    const start = createFileLeases(layout, {
      durable: false,
      openFile: async () => ({
        write: async (_bytes, _offset, length) => {
          // The folder for the state file is gone by the time it is written.
          rmSync(layout.stateFolder, { recursive: true, force: true, maxRetries: 5 });
          return { bytesWritten: length };
        },
        datasync: async () => {},
        close: async () => {},
      }),
    }).create(HISTORY);
    await refusalOf(() => start);
    expect(existsSync(layout.journalFile('run-1'))).toBe(false);
    expect(await listRunIds(layout)).toStrictEqual([]);
  });
});
