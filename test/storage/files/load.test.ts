import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../../src/core/run/event.ts';
import { type FolderLayout, layoutOf } from '../../../src/disk/layout.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { loadRun } from '../../../src/storage/files/load.ts';
import { readJournalLines } from '../../../src/storage/journal-lines.ts';
import type { JournalPosition } from '../../../src/storage/run-file.ts';
import { afterStep } from '../../../src/storage/storage.ts';
import { readEvents } from '../read-events.ts';
import { resealLine } from '../reseal.ts';
import { fixedHistory, type RunHistory, randomHistory, refusalOf, runAfter } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';

const temporary = temporaryFolders();
const NEVER = 1e9;

/** A run on disk whose owner was killed: the state file is still the first one. */
async function killed(
  history: RunHistory,
): Promise<{ layout: FolderLayout; file: string; first: number; ends: number[] }> {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const id = history.run.id;
  const lease = await createFileLeases(layout, { snapshotEveryMs: NEVER }).create(history);
  copyFileSync(layout.stateFile(id), join(layout.root, 'first'));
  await lease.append(history.steps);
  await lease.release();
  copyFileSync(join(layout.root, 'first'), layout.stateFile(id));
  const file = layout.journalFile(id);
  const ends = [...readFileSync(file).entries()].flatMap(([at, byte]) => (byte === 10 ? [at + 1] : []));
  return { layout, file, first: ends[0] ?? 0, ends };
}

const load = (layout: FolderLayout, cut = false) => loadRun(layout, 'run-1', { cut });

test('a journal cut off at any byte loads the run after its last complete step', async () => {
  const history = fixedHistory(3);
  const { layout, file, first, ends } = await killed(history);
  for (let size = statSync(file).size; size >= first; size--) {
    truncateSync(file, size);
    const whole = ends.filter((end) => end <= size);
    expect(await load(layout)).toMatchObject({
      run: runAfter(history, whole.length - 1),
      journal: { seq: whole.length - 1, offset: whole.at(-1), owner: 1, checkedFrom: 0 },
    });
    expect(statSync(file).size).toBe(size);
  }
}, 120_000);

test('an incomplete step is removed only by the owner, and the run continues as if it had not begun', async () => {
  await fc.assert(
    fc.asyncProperty(randomHistory(12), fc.nat(), async (history, at) => {
      const { layout, file, first, ends } = await killed(history);
      const size = first + (at % (statSync(file).size - first + 1));
      truncateSync(file, size);
      const kept = ends.filter((end) => end <= size).length - 1;
      const lease = await createFileLeases(layout, { snapshotEveryMs: NEVER }).acquire('run-1');
      const { run } = lease;
      expect(run).toStrictEqual(runAfter(history, kept));
      expect(statSync(file).size).toBe(ends[kept]);
      await lease.append(history.steps.slice(kept));
      await lease.release();
      expect((await load(layout)).run).toStrictEqual(runAfter(history, history.steps.length));
      expect(statSync(file).size).toBe(ends.at(-1));
    }),
    { numRuns: 60 },
  );
});

test('a last line that is not JSON is incomplete, too: a power cut may leave anything', async () => {
  const history = fixedHistory(6);
  const { layout, file } = await killed(history);
  const whole = statSync(file).size;
  for (const rest of ['\0\0\0\0', '\0\0\0\0\n', '{"seq":\n', '\n']) {
    truncateSync(file, whole);
    writeFileSync(file, rest, { flag: 'a' });
    expect((await load(layout)).run).toStrictEqual(runAfter(history, history.steps.length));
    expect(statSync(file).size).toBe(whole + rest.length);
    await load(layout, true);
    expect(statSync(file).size).toBe(whole);
  }
});

describe('a journal is refused by file and line, and not changed,', () => {
  test.each<[string, number, (line: string) => string, string]>([
    ['if a line in the middle is torn', 4, (line) => line.slice(0, -5), 'it is not JSON'],
    ['if a line in the middle is empty', 3, () => '', 'it is not JSON'],
    [
      'if a line is missing',
      5,
      (line) => resealLine(line.replace('"seq":4', '"seq":5')),
      'step 4 should be here, not step 5',
    ],
    ['if a line is something else', 2, () => resealLine('{"seq":1}'), 'it is not a step'],
    ['if a line is changed', 4, (line) => line.replace('"main"', '"mian"'), 'its checksum does not match'],
    ['if a line has no checksum', 2, (line) => line.replace(/,"sum":"\w+"/, ''), 'its checksum is missing'],
    ['if a line is not even an object', 2, () => 'null', 'its checksum is missing'],
    [
      'if an agent is not who it was',
      3,
      (line) => resealLine(line.replace('"id":"main"', '"id":"mia"')),
      'agent 0 is main, not mia',
    ],
    [
      'if an agent comes from nowhere',
      3,
      (line) => resealLine(line.replace('"at":0', '"at":7')),
      'there is no agent 7 (main) yet',
    ],
  ])('%s', async (_, number, change, why) => {
    const { layout, file } = await killed(fixedHistory(10));
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, lines.with(number - 1, change(lines[number - 1] ?? '')).join('\n'));
    const before = readFileSync(file, 'utf8');
    const refusal = await refusalOf(() => load(layout, true));
    expect(refusal.message).toBe(`${file}:${number}: this line of the journal is broken: ${why}.`);
    expect(refusal.exitCode).toBe(65);
    expect(refusal.hint).toContain('Nothing was touched');
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect((await refusalOf(() => createFileLeases(layout).acquire('run-1'))).message).toBe(refusal.message);
  });

  test('if it does not lead to a valid run', async () => {
    const { layout, file } = await killed(fixedHistory(10));
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const [first = '', ...steps] = lines;
    const dreaming = steps.map((line) => resealLine(line.replaceAll('"kind":"ready"', '"kind":"dreaming"')));
    writeFileSync(file, `${[first, ...dreaming].join('\n')}\n`);
    const refusal = await refusalOf(() => load(layout, true));
    expect(refusal.message).toContain(
      `${layout.stateFile('run-1')} with ${file} is not a state file of Raymond: \`agents.`,
    );
  });

  test('if it is shorter than the state file says, or of another run', async () => {
    const { layout, file } = await killed(fixedHistory(10));
    const lease = await createFileLeases(layout).acquire('run-1');
    await lease.release();
    const text = readFileSync(file, 'utf8');
    for (const broken of [text.slice(0, -20), text.slice(0, -1).concat(' '), '']) {
      writeFileSync(file, broken);
      const refusal = await refusalOf(() => load(layout, true));
      expect(refusal.message).toContain(`${file} is not whole: `);
    }
  });
});

test('an unknown run is refused', async () => {
  const layout = layoutOf(join(temporary(), '.raymond'));
  for (const id of ['nothing', '../../etc/passwd', '']) {
    const refusal = await refusalOf(() => loadRun(layout, id, { cut: false }));
    expect(refusal.message).toBe(`no such run: ${id}`);
    expect(refusal.exitCode).toBe(64);
  }
});

describe('the events of a run', () => {
  const eventsOf = async (layout: FolderLayout, after?: JournalPosition): Promise<Event[]> => {
    const events: Event[] = [];
    for await (const { event } of readEvents(layout, 'run-1', after)) events.push(event);
    return events;
  };

  test('are complete, from the first to the last, or after any step', async () => {
    await fc.assert(
      fc.asyncProperty(randomHistory(20), fc.nat(20), async (history, after) => {
        const { layout } = await killed(history);
        const later = (from: number): Event[] => history.steps.slice(from).flatMap(({ step }) => step.events);
        expect(await eventsOf(layout)).toStrictEqual([...history.events, ...later(0)]);
        expect(await eventsOf(layout, afterStep(after))).toStrictEqual(later(after));
      }),
      { numRuns: 30 },
    );
  });

  test('continue after the last one that was read, without reading all before', async () => {
    const history = fixedHistory(10);
    const { layout, first } = await killed(history);
    for await (const { seq, offset } of readEvents(layout, 'run-1')) {
      expect(await eventsOf(layout, { seq, offset })).toStrictEqual(
        history.steps.slice(seq).flatMap(({ step }) => step.events),
      );
      if (seq === 0) expect(offset).toBe(first);
    }
  });

  test('do not include those of a step that is being written', async () => {
    const history = fixedHistory(10);
    const { layout, file } = await killed(history);
    truncateSync(file, statSync(file).size - 1);
    const told = history.steps.slice(0, -1).flatMap(({ step }) => step.events);
    expect(await eventsOf(layout)).toStrictEqual([...history.events, ...told]);
  });

  test('are refused for an unknown run', async () => {
    const refusal = await refusalOf(() => eventsOf(layoutOf(join(temporary(), '.raymond'))));
    expect(refusal.message).toBe('no such run: run-1');
  });
});

test('lines are read whole across several reads', async () => {
  const texts = ['a', '', 'é'.repeat(700_000), 'b'.repeat(3_000_000), 'c'.repeat((1 << 18) - 1), '漢'];
  const file = join(temporary({ lines: texts.join('\n') }), 'lines');
  const lines: { text: string; start: number; end: number; ended: boolean }[] = [];
  for await (const some of readJournalLines(file, 0)) lines.push(...some);
  expect(lines.map(({ text }) => text)).toStrictEqual(texts);
  expect(lines.map(({ ended }) => ended)).toStrictEqual([true, true, true, true, true, false]);
  const bytes = readFileSync(file);
  for (const { text, start, end, ended } of lines) {
    expect(bytes.subarray(start, ended ? end - 1 : end).toString() === text).toBe(true);
  }
});
