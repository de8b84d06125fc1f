import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { layoutOf } from '../../../src/disk/layout.ts';
import { createFileJournal } from '../../../src/storage/files/journal.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { resealLine } from '../reseal.ts';
import { fixedHistory } from '../run-history.ts';
import { describeStorageContract, type StorageHarness } from '../storage-contract.ts';
import { temporaryFolders } from '../temp.ts';
import { storageOf } from './open-files.ts';

const temporary = temporaryFolders();
const OPTIONS = { snapshotEveryMs: 1e9 };

describeStorageContract('files', async (): Promise<StorageHarness> => {
  const layout = layoutOf(join(temporary(), '.raymond'));
  return {
    storage: storageOf(layout),
    create: ({ run, events }) => createFileLeases(layout, OPTIONS).create({ run, events }),
    turnFolder(run, turn) {
      mkdirSync(layout.turnFolder(run, turn), { recursive: true });
      return layout.turnFolder(run, turn);
    },
    poll: async () => {},
  };
});

/** The journal of a run with these steps that nobody drives. */
async function savedJournal(length: number) {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const history = fixedHistory(length);
  const lease = await createFileLeases(layout, OPTIONS).create(history);
  await lease.append(history.steps);
  await lease.release();
  return { journal: createFileJournal(layout), file: layout.journalFile('run-1') };
}

const seqs = async (steps: AsyncIterable<{ readonly seq: number }>): Promise<readonly number[]> => {
  const found: number[] = [];
  for await (const { seq } of steps) found.push(seq);
  return found;
};

const withOwner = (line: string, owner: number): string => resealLine(JSON.stringify({ ...JSON.parse(line), owner }));

test('lines of an owner that was taken over do not count backwards either, nor after a position between them', async () => {
  const { journal, file } = await savedJournal(12);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const [before, after] = [lines.slice(0, 6), lines.slice(6)];
  const mixed = [...before, ...after.flatMap((line) => [withOwner(line, 2), ...before.slice(-2)])];
  writeFileSync(file, `${mixed.join('\n')}\n`);
  const forwards = await seqs(journal.read('run-1'));
  expect(forwards).toStrictEqual(Array.from({ length: 13 }, (_, seq) => seq));
  expect(await seqs(journal.readBackwards('run-1'))).toStrictEqual(forwards.toReversed());
  for await (const { seq, offset } of journal.read('run-1'))
    expect(await seqs(journal.read('run-1', { seq, offset }))).toStrictEqual(forwards.slice(seq + 1));
});

test('a line that is being written counts in no direction', async () => {
  const { journal, file } = await savedJournal(5);
  const bytes = readFileSync(file);
  appendFileSync(file, '{"seq":6,"he');
  expect(await seqs(journal.readBackwards('run-1'))).toStrictEqual([5, 4, 3, 2, 1, 0]);
  truncateSync(file, bytes.length - 1);
  expect(await seqs(journal.readBackwards('run-1'))).toStrictEqual([4, 3, 2, 1, 0]);
});

test('a broken line is refused as soon as reading backwards comes to it, and not before', async () => {
  const { journal, file } = await savedJournal(40);
  const lines = readFileSync(file, 'utf8').split('\n');
  lines[3] = lines[3]?.replace('"seq":3', '"seq":4') ?? '';
  writeFileSync(file, lines.join('\n'));
  const found: number[] = [];
  const reading = (async () => {
    for await (const { seq } of journal.readBackwards('run-1')) found.push(seq);
  })();
  await expect(reading).rejects.toThrow('journal.jsonl:4: this line of the journal is broken');
  expect(found).toStrictEqual(Array.from({ length: 37 }, (_, at) => 40 - at));
});
