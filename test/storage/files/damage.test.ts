import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../../src/core/run/run.ts';
import { type FolderLayout, layoutOf } from '../../../src/disk/layout.ts';
import { RaymondError } from '../../../src/errors.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { loadRun } from '../../../src/storage/files/load.ts';
import { readEvents } from '../read-events.ts';
import { resealLine } from '../reseal.ts';
import { fixedHistory, runAfter } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';

const temporary = temporaryFolders();
const HISTORY = fixedHistory(12);
const LAST = HISTORY.steps.length;

/** A run whose state file is the first one, so that every line of the journal counts, or the last one. */
async function savedRun(stateFile: 'first' | 'last'): Promise<FolderLayout> {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const lease = await createFileLeases(layout, { snapshotEveryMs: 1e9 }).create(HISTORY);
  copyFileSync(layout.stateFile('run-1'), join(layout.root, 'first'));
  await lease.append(HISTORY.steps);
  await lease.release();
  if (stateFile === 'first') copyFileSync(join(layout.root, 'first'), layout.stateFile('run-1'));
  return layout;
}

/** The run as it is believed to be; undefined if it is refused with a sentence. */
async function believed(layout: FolderLayout): Promise<Run | undefined> {
  try {
    return (await loadRun(layout, 'run-1', { cut: false })).run;
  } catch (error) {
    if (error instanceof RaymondError) return undefined;
    throw error;
  }
}

const flipBit = (bytes: Buffer, at: number): Buffer => {
  const flipped = Buffer.from(bytes);
  flipped[at >> 3] = (flipped[at >> 3] ?? 0) ^ (1 << (at & 7));
  return flipped;
};

test('a flipped bit of a journal is never believed', async () => {
  const layout = await savedRun('first');
  const file = layout.journalFile('run-1');
  const bytes = readFileSync(file);
  const lastLine = bytes.lastIndexOf(10, bytes.length - 2) + 1;
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (at) => {
      writeFileSync(file, flipBit(bytes, at));
      const run = await believed(layout);
      // The first line has no change of the run; a torn last one was never written, as far as anyone can tell.
      const isOfFirst = at >> 3 < bytes.indexOf(10);
      if (isOfFirst) expect(run).toStrictEqual(runAfter(HISTORY, LAST));
      else if (at >> 3 >= lastLine) expect([undefined, runAfter(HISTORY, LAST - 1)]).toContainEqual(run);
      else expect(run).toBe(undefined);
    }),
    { numRuns: 500 },
  );
});

test('a flipped bit of a state file is never believed: its journal stands in', async () => {
  const layout = await savedRun('last');
  const file = layout.stateFile('run-1');
  const bytes = readFileSync(file);
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (at) => {
      writeFileSync(file, flipBit(bytes, at));
      const { run, stateFileProblem } = await loadRun(layout, 'run-1', { cut: false });
      expect(run).toStrictEqual(runAfter(HISTORY, LAST));
      expect(stateFileProblem).toBe('damaged');
    }),
    { numRuns: 500 },
  );
});

test('a flipped bit is found by those who read the events, too', async () => {
  const layout = await savedRun('last');
  const file = layout.journalFile('run-1');
  const bytes = readFileSync(file);
  writeFileSync(file, flipBit(bytes, bytes.indexOf('"main"') * 8 + 16));
  const reading = (async () => {
    for await (const _ of readEvents(layout, 'run-1'));
  })();
  await expect(reading).rejects.toThrow('journal.jsonl:1: this line of the journal is broken');
});

describe('lines of an owner after the first one of its successor', () => {
  const withOwner = (line: string, owner: number): string => resealLine(JSON.stringify({ ...JSON.parse(line), owner }));

  test('do not count, wherever they are', async () => {
    const layout = await savedRun('first');
    const file = layout.journalFile('run-1');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const [before, after] = [lines.slice(0, 6), lines.slice(6)];
    const late = before.slice(-2);
    const mixed = [...before, ...after.flatMap((line) => [withOwner(line, 2), ...late])];
    writeFileSync(file, `${mixed.join('\n')}\n`);
    expect(await believed(layout)).toStrictEqual(runAfter(HISTORY, LAST));
    const seqs: number[] = [];
    for await (const { seq } of readEvents(layout, 'run-1')) seqs.push(seq);
    expect(seqs).toStrictEqual(seqs.toSorted((a, b) => a - b));
    expect((await loadRun(layout, 'run-1', { cut: false })).journal.owner).toBe(2);
  });
});
