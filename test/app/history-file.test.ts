import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FolderLayout, layoutOf } from '../../src/disk/layout.ts';
import { collectHistory } from '../../src/render/run-history.ts';
import { createFileJournal } from '../../src/storage/files/journal.ts';
import { createFileLeases } from '../../src/storage/files/lease.ts';
import { HistoryFile, loadHistory, MAX_TRANSITIONS } from '../../src/wiring/history-file.ts';
import { readEvents } from '../storage/read-events.ts';
import { fixedHistory, type RunHistory, randomHistory, runAfter } from '../storage/run-history.ts';
import { temporaryFolders } from '../storage/temp.ts';

const temporary = temporaryFolders();

/** A run on disk whose summary was written after so many steps; the others are only in the journal. */
async function savedRun({ run, events, steps }: RunHistory, summarized: number): Promise<FolderLayout> {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const lease = await createFileLeases(layout, { durable: false }).create({ run, events });
  const file = await HistoryFile.open(layout, run, lease);
  for (const [at, each] of steps.entries()) {
    if (at === summarized) await file?.write();
    await lease.append([each]);
    if (at < summarized) file?.add([each]);
  }
  if (summarized >= steps.length) await file?.write();
  await lease.release();
  return layout;
}

const whole = async (layout: FolderLayout, seq: number) => {
  const events = [];
  for await (const each of readEvents(layout, 'run-1')) if (each.seq <= seq) events.push(each.event);
  const { labels: _, ...history } = await collectHistory(events, MAX_TRANSITIONS);
  return history;
};

test('a summary and the events after it tell the same as all events', async () => {
  await fc.assert(
    fc.asyncProperty(randomHistory(), fc.nat(40), async (history, summarized) => {
      const layout = await savedRun(history, Math.min(summarized, history.steps.length));
      const { seq, agents } = runAfter(history, history.steps.length);
      const loaded = (await loadHistory(createFileJournal(layout), 'run-1', seq)).history;
      const expected = await whole(layout, seq);
      const known = new Set(agents.map(({ id }) => id));
      const agentsNow = new Map([...expected.agents].filter(([id]) => known.has(id)));
      expect({ ...loaded, agents: new Map([...loaded.agents].filter(([id]) => known.has(id))) }).toStrictEqual({
        ...expected,
        agents: agentsNow,
      });
    }),
    { numRuns: 60 },
  );
});

const HISTORY = fixedHistory(30);
const LAST = runAfter(HISTORY, HISTORY.steps.length).seq;

test('what the summary covers is not read again', async () => {
  const layout = await savedRun(HISTORY, 20);
  const before = (await loadHistory(createFileJournal(layout), 'run-1', LAST)).history;
  const file = layout.journalFile('run-1');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"turn_started"', '"turn_storted"'));
  expect((await loadHistory(createFileJournal(layout), 'run-1', LAST)).history).toStrictEqual(before);
  rmSync(layout.historyFile('run-1'));
  await expect(loadHistory(createFileJournal(layout), 'run-1', LAST)).rejects.toThrow(
    'this line of the journal is broken',
  );
});

test.each<[string, (layout: FolderLayout) => void]>([
  ['is missing', (layout) => rmSync(layout.historyFile('run-1'))],
  ['is damaged', (layout) => edit(layout, (text) => text.replace('"worked"', '"warked"'))],
  ['was cut off', (layout) => edit(layout, (text) => text.slice(0, 100))],
  ['is of another format', (layout) => edit(layout, () => '{"format": 0}')],
])('a summary that %s is not used', async (_, spoil) => {
  const layout = await savedRun(HISTORY, 20);
  spoil(layout);
  expect((await loadHistory(createFileJournal(layout), 'run-1', LAST)).history).toStrictEqual(
    await whole(layout, LAST),
  );
});

test('a summary of another journal is not used', async () => {
  const layout = await savedRun(HISTORY, 20);
  const other = await savedRun(HISTORY, 25);
  const lines = readFileSync(other.journalFile('run-1'), 'utf8').split('\n');
  // The same journal without a line in its middle, as if a part had been lost.
  writeFileSync(other.journalFile('run-1'), lines.toSpliced(10, 1).join('\n'));
  copyFileSync(layout.historyFile('run-1'), other.historyFile('run-1'));
  expect((await loadHistory(createFileJournal(other), 'run-1', LAST)).history).toStrictEqual(await whole(other, LAST));
});

function edit(layout: FolderLayout, change: (text: string) => string): void {
  const file = layout.historyFile('run-1');
  expect(existsSync(file)).toBe(true);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}
