import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { streamRunEvents } from '../../src/app/run-files.ts';
import { readArchivedAgents } from '../../src/app/status.ts';
import { withChange } from '../../src/core/run/change.ts';
import type { Event } from '../../src/core/run/event.ts';
import { step } from '../../src/core/step.ts';
import type { TurnRef } from '../../src/core/turns/due.ts';
import { splitChunks } from '../../src/process/lines.ts';
import { HistoryCollector } from '../../src/render/run-history.ts';
import type { JournalPosition } from '../../src/storage/run-file.ts';
import {
  afterStep,
  JOURNAL_START,
  type JournaledStep,
  type RunLease,
  type RunStorage,
  type TurnName,
  type TurnOutput,
  type TurnStream,
} from '../../src/storage/storage.ts';
import { loadHistory, MAX_TRANSITIONS } from '../../src/wiring/history-file.ts';
import { dispatcherHistory } from './dispatcher-history.ts';
import { fixedHistory, type RunHistory, randomHistory, refusalOf, runAfter } from './run-history.ts';

/** An empty storage, and how to put runs into it. */
export interface StorageHarness {
  readonly storage: RunStorage;
  /** Creates a run and opens it, as the process that drives it does. */
  create(history: Pick<RunHistory, 'run' | 'events'>): Promise<RunLease>;
  /** A folder in which a turn writes its streams, where the storage or the node that publishes them finds them. */
  turnFolder(run: string, turn: TurnRef): string;
  /** Lets the node of the turns send what is new. */
  poll(): Promise<void>;
}

const STARTED_AT = 1_700_000_000_000;

/** The same history for a run with another id, which was started so many seconds later. */
function rename({ run, events, steps }: RunHistory, id: string, secondsLater = 0): RunHistory {
  const facts = { id, startedAt: STARTED_AT + 1_000 * secondsLater };
  return {
    run: { ...run, ...facts },
    events,
    steps: steps.map(({ before, step: taken }) => {
      const named = { ...before, ...facts };
      return { before: named, ...withChange(named, { ...taken, run: { ...taken.run, ...facts } }) };
    }),
  };
}

/** A run that was stopped before it began anything. */
function stoppedHistory(id: string, secondsLater = 0): RunHistory {
  const { run, events } = rename(fixedHistory(0), id, secondsLater);
  const stopped = step(run, { kind: 'stopped', at: run.startedAt, by: 'stopped' });
  return { run, events, steps: [{ before: run, ...withChange(run, stopped) }] };
}

async function collect<T>(items: AsyncIterable<T>, most = Number.POSITIVE_INFINITY): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length === most) break;
  }
  return found;
}

const seqsOf = (steps: readonly JournaledStep[]): readonly number[] => steps.map(({ seq }) => seq);

const numbersTo = (last: number, first = 0): readonly number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);

const eventsOf = ({ events, steps }: RunHistory, upTo = steps.length): readonly Event[] => [
  ...events,
  ...steps.slice(0, upTo).flatMap((each) => each.step.events),
];

/** The tests of the catalog and the journal that every storage must pass. */
export function describeStorageContract(name: string, open: () => Promise<StorageHarness>): void {
  /** A storage with one run that has all steps of a history and is still driven. */
  const openWith = async (history: RunHistory) => {
    const harness = await open();
    const lease = await harness.create(history);
    for (const each of history.steps) await lease.append([each]);
    return { ...harness, lease };
  };

  describe(`the catalog of ${name}`, () => {
    test('resolves an id, a unique beginning of it, and `last`', async () => {
      const { storage, create } = await open();
      for (const [at, id] of ['apple', 'apricot', 'banana', 'ap'].entries())
        await (await create(rename(fixedHistory(0), id, at === 2 ? 9 : at))).release();
      for (const id of ['apple', 'banana', 'ap']) expect(await storage.runs.resolve(id)).toBe(id);
      expect(await storage.runs.resolve('app')).toBe('apple');
      expect(await storage.runs.resolve('b')).toBe('banana');
    });

    test('resolves `last` to the run that was started last', async () => {
      const { storage, create } = await open();
      for (const [at, id] of ['z-first', 'm-second', 'a-third'].entries()) {
        await (await create(rename(fixedHistory(0), id, at))).release();
        expect(await storage.runs.resolve('last')).toBe(id);
      }
    });

    test('refuses a beginning that several runs have, and names them', async () => {
      const { storage, create } = await open();
      for (const id of ['apple', 'apricot']) await (await create(rename(fixedHistory(0), id))).release();
      const { message, exitCode } = await refusalOf(() => storage.runs.resolve('ap'));
      expect(message).toBe('`ap` may be any of 2 runs: apple, apricot.');
      expect(exitCode).toBe(64);
    });

    test('refuses what is no run, and suggests a similar one', async () => {
      const { storage, create } = await open();
      expect((await refusalOf(() => storage.runs.resolve('last'))).hint).toBe(
        `There are no runs in ${storage.name} yet.`,
      );
      await (await create(rename(fixedHistory(0), 'apple'))).release();
      expect((await refusalOf(() => storage.runs.resolve('aple'))).message).toContain('did you mean apple?');
      expect((await refusalOf(() => storage.runs.resolve(''))).exitCode).toBe(64);
    });

    test('lists all runs, the latest first', async () => {
      const { storage, create } = await open();
      expect(await storage.runs.list('summaries')).toStrictEqual([]);
      for (const [id, at] of [
        ['old', 1],
        ['new', 3],
        ['middle', 2],
      ] as const)
        await (await create(rename(fixedHistory(0), id, at))).release();
      for (const depth of ['summaries', 'journals', 'summaries'] as const)
        expect((await storage.runs.list(depth)).map(({ id }) => id)).toStrictEqual(['new', 'middle', 'old']);
    });

    test('lists each change of a run, however often it has listed it before', async () => {
      const history = stoppedHistory('run-1');
      const { storage, create } = await open();
      const lease = await create(history);
      const list = () => storage.runs.list('journals');
      expect(await list()).toMatchObject([{ kind: 'run', observedStatus: expect.any(String), agents: { ready: 1 } }]);
      await lease.append(history.steps);
      await lease.release();
      const { status } = runAfter(history, 1);
      for (const _ of [1, 2]) expect(await list()).toMatchObject([{ observedStatus: status, damage: [] }]);
    });

    test('observes a run as its last step left it', async () => {
      const history = fixedHistory(12);
      const { storage, lease } = await openWith(history);
      for (const depth of ['summaries', 'journals'] as const) {
        const observed = await storage.runs.observe('run-1', depth);
        expect(observed.run).toStrictEqual(runAfter(history, history.steps.length));
        expect(observed.damage).toStrictEqual([]);
        expect(observed.journal.seq).toBe(history.steps.length);
      }
      await lease.release();
    });

    test('refuses to observe a run that is not there', async () => {
      const { storage } = await open();
      const { message, exitCode } = await refusalOf(() => storage.runs.observe('nobody'));
      expect([message, exitCode]).toStrictEqual(['no such run: nobody', 64]);
    });

    test('knows that a run is driven, until it has ended', async () => {
      const history = stoppedHistory('run-1');
      const { storage, create } = await open();
      expect(await storage.runs.isDriven('run-1')).toBe(false);
      const lease = await create(history);
      expect(await storage.runs.isDriven('run-1')).toBe(true);
      await lease.append(history.steps);
      await lease.release();
      expect(await storage.runs.isDriven('run-1')).toBe(false);
    });

    test('measures what a run takes, and nothing for a run that is not there', async () => {
      const history = fixedHistory(20);
      const { storage, create } = await open();
      const lease = await create(history);
      const { bytes } = await storage.runs.measure('run-1');
      for (const each of history.steps) await lease.append([each]);
      expect((await storage.runs.measure('run-1')).bytes).toBeGreaterThan(bytes);
      expect((await storage.runs.measure('nobody')).bytes).toBe(0);
      await lease.release();
    });

    test('removes no run that is driven', async () => {
      const { storage, lease } = await openWith(fixedHistory(3));
      expect((await refusalOf(() => storage.runs.remove('run-1'))).exitCode).toBe(64);
      expect((await storage.runs.observe('run-1')).run.seq).toBe(3);
      expect(await collect(storage.journal.read('run-1'))).toHaveLength(4);
      await lease.release();
    });

    test('removes a run for good, and only that one', async () => {
      const { storage, create } = await open();
      for (const id of ['gone', 'goner']) {
        const { steps, ...history } = stoppedHistory(id);
        const lease = await create(history);
        await lease.append(steps);
        await lease.release();
      }
      await storage.runs.remove('gone');
      expect((await storage.runs.list('journals')).map(({ id }) => id)).toStrictEqual(['goner']);
      expect(await storage.runs.resolve('go')).toBe('goner');
      expect((await refusalOf(() => storage.runs.observe('gone'))).message).toBe('no such run: gone');
      expect(await storage.runs.findHalfRemoved()).toStrictEqual({ ids: [], unsigned: [] });
      // Its id is free again.
      await (await create(rename(fixedHistory(0), 'gone'))).release();
      expect(await collect(storage.journal.read('gone'))).toHaveLength(1);
    });
  });

  describe(`the journal of ${name}`, () => {
    test('has the steps as they were saved, each at a later position', async () => {
      const history = fixedHistory(12);
      const { storage, lease } = await openWith(history);
      const steps = await collect(storage.journal.read('run-1'));
      expect(seqsOf(steps)).toStrictEqual(numbersTo(history.steps.length));
      expect(steps.flatMap(({ change }) => change.events)).toStrictEqual(eventsOf(history));
      const offsets = steps.map(({ offset }) => offset);
      expect(offsets).toStrictEqual([...new Set(offsets)].sort((a, b) => a - b));
      await lease.release();
    });

    test('is read on from any position, or from any step', async () => {
      const history = fixedHistory(12);
      const { storage, lease } = await openWith(history);
      const last = history.steps.length;
      for (const { seq, offset } of await collect(storage.journal.read('run-1'))) {
        if (seq === 5) await lease.snapshot();
        for (const after of [{ seq, offset }, afterStep(seq)])
          expect(seqsOf(await collect(storage.journal.read('run-1', after)))).toStrictEqual(numbersTo(last, seq + 1));
      }
      expect(await collect(storage.journal.read('run-1', JOURNAL_START))).toHaveLength(last + 1);
      await lease.release();
    });

    test('is read in pieces: who has enough leaves', async () => {
      const { storage, lease } = await openWith(fixedHistory(12));
      expect(seqsOf(await collect(storage.journal.read('run-1'), 3))).toStrictEqual([0, 1, 2]);
      expect(seqsOf(await collect(storage.journal.readBackwards('run-1'), 3))).toStrictEqual([12, 11, 10]);
      await lease.release();
    });

    test('is the same backwards', async () => {
      for (const length of [0, 1, 31, 32, 33, 80]) {
        const { storage, lease } = await openWith(fixedHistory(length));
        const forwards = await collect(storage.journal.read('run-1'));
        const backwards = await collect(storage.journal.readBackwards('run-1'));
        const positions = (steps: readonly JournaledStep[]): readonly JournalPosition[] =>
          steps.map(({ seq, offset }) => ({ seq, offset }));
        expect(positions(backwards.toReversed())).toStrictEqual(positions(forwards));
        expect(backwards.toReversed().map(({ change }) => change)).toStrictEqual(forwards.map(({ change }) => change));
        await lease.release();
      }
    });

    test('is followed while its driver writes, until the stop', async () => {
      const history = fixedHistory(12);
      const { storage, create } = await open();
      const lease = await create(history);
      const stop = new AbortController();
      const seen: number[] = [];
      for await (const { seq } of storage.journal.follow('run-1', JOURNAL_START, stop.signal)) {
        seen.push(seq);
        const next = history.steps[seq];
        if (next === undefined) stop.abort();
        else await lease.append([next]);
      }
      expect(seen).toStrictEqual(numbersTo(history.steps.length));
      await lease.release();
    });

    test('wakes a follower that has nothing to read', async () => {
      const history = fixedHistory(3);
      const { storage, create } = await open();
      const lease = await create(history);
      const stop = new AbortController();
      const following = collect(storage.journal.follow('run-1', JOURNAL_START, stop.signal), 4);
      for (const each of history.steps) await lease.append([each]);
      expect(seqsOf(await following)).toStrictEqual([0, 1, 2, 3]);
      const idle = collect(storage.journal.follow('run-1', afterStep(3), stop.signal));
      stop.abort();
      expect(await idle).toStrictEqual([]);
      await lease.release();
    });

    test('is followed from any position, and to the step before the stop', async () => {
      const history = fixedHistory(8);
      const { storage, lease } = await openWith(history);
      for (const { seq, offset } of await collect(storage.journal.read('run-1')))
        expect(
          seqsOf(await collect(storage.journal.follow('run-1', { seq, offset }, AbortSignal.abort()))),
        ).toStrictEqual(numbersTo(history.steps.length, seq + 1));
      await lease.release();
    });

    test('has several followers, each with every step', async () => {
      const history = fixedHistory(10);
      const { storage, create } = await open();
      const lease = await create(history);
      const stop = new AbortController();
      const all = [1, 2, 3].map(() => collect(storage.journal.follow('run-1', JOURNAL_START, stop.signal), 11));
      for (const each of history.steps) await lease.append([each]);
      for (const steps of await Promise.all(all)) expect(seqsOf(steps)).toStrictEqual(numbersTo(10));
      await lease.release();
    });

    test('knows its positions, and no others', async () => {
      const { storage, lease } = await openWith(fixedHistory(10));
      const has = (at: JournalPosition): Promise<boolean> => storage.journal.has('run-1', at);
      for (const { seq, offset } of await collect(storage.journal.read('run-1'))) {
        expect(await has({ seq, offset })).toBe(true);
        for (const wrong of [
          { seq: seq + 1, offset },
          { seq, offset: offset + 1 },
          { seq, offset: offset - 1 },
          { seq: seq + 100, offset: offset + 1_000_000 },
        ])
          expect(await has(wrong)).toBe(false);
      }
      expect(await storage.journal.has('nobody', { seq: 0, offset: 1 })).toBe(false);
      await lease.release();
    });

    test('tells the history of a run up to any step', async () => {
      const history = fixedHistory(12);
      const { storage, lease } = await openWith(history);
      for (const upTo of [0, 5, 12]) {
        const expected = new HistoryCollector(MAX_TRANSITIONS);
        for (const event of eventsOf(history, upTo)) expected.observe(event);
        expect((await loadHistory(storage.journal, 'run-1', upTo)).history).toStrictEqual(expected.history);
        expect(await collect(streamRunEvents('run-1', storage, upTo))).toStrictEqual(eventsOf(history, upTo));
      }
      await lease.release();
    });

    test('keeps the agents that have left a run', async () => {
      const { run, events, steps, archived } = dispatcherHistory(9, { kept: 3, batch: 2 });
      const { storage, create } = await open();
      const lease = await create({ run, events });
      for (const each of steps) await lease.append([each]);
      expect(await readArchivedAgents(storage.journal, run.id, steps.length)).toStrictEqual(archived);
      await lease.release();
    });
  });

  describe(`the output of turns in ${name}`, () => {
    const TURN: TurnRef = { agent: 'main', number: 1, state: 'START.md' };
    const read = async (output: TurnOutput, stream: TurnStream, turn: TurnName = TURN): Promise<string> =>
      Buffer.concat((await collect(output.read('run-1', turn, stream))).map(({ bytes }) => bytes)).toString('utf8');
    const openTurn = async () => {
      const harness = await open();
      const lease = await harness.create(fixedHistory(0));
      const folder = harness.turnFolder('run-1', TURN);
      const { output } = harness.storage;
      writeFileSync(join(folder, 'stdin'), 'Do it.\n');
      const say = (text: string): void => appendFileSync(join(folder, 'stdout'), text);
      return { ...harness, lease, output, say, finish: output.publish('run-1', TURN, folder) };
    };

    test('can be read when it has ended, by the whole turn or by its number', async () => {
      const { output, say, finish, lease } = await openTurn();
      say('one\ntwo');
      await finish(true);
      expect(await read(output, 'stdin')).toBe('Do it.\n');
      expect(await read(output, 'stdout')).toBe('one\ntwo');
      expect(await read(output, 'stdout', { agent: 'main', number: 1 })).toBe('one\ntwo');
      expect(await read(output, 'stderr')).toBe('');
      expect(await output.sizes('run-1', TURN)).toStrictEqual({ stdin: 7, stdout: 7 });
      await lease.release();
    });

    test('is nothing for a turn that is not there', async () => {
      const { output, lease, finish } = await openTurn();
      await finish(true);
      const other = { agent: 'main', number: 2 };
      expect(await output.sizes('run-1', other)).toStrictEqual({});
      await lease.release();
    });

    test('is followed as it comes, and complete when its end is known', async () => {
      const { output, say, poll, finish, lease } = await openTurn();
      let end = (): void => {};
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      const prompt = collect(output.read('run-1', TURN, 'stdin', over));
      const lines: string[] = [];
      const following = (async () => {
        for await (const line of splitChunks(output.read('run-1', TURN, 'stdout', over))) lines.push(`${line}`);
      })();
      const hears = (count: number) =>
        vi.waitFor(
          async () => {
            await poll();
            expect(lines).toHaveLength(count);
          },
          { timeout: 20_000, interval: 20 },
        );
      say('one\ntw');
      await hears(1);
      say('o\nthree\nlast');
      await hears(3);
      expect(Buffer.concat((await prompt).map(({ bytes }) => bytes)).toString('utf8')).toBe('Do it.\n');
      say(' words');
      await finish(true);
      end();
      await following;
      expect(lines).toStrictEqual(['one', 'two', 'three', 'last words']);
      await lease.release();
    });

    test('that is long is read in chunks whose offsets tell of gaps', async () => {
      const { output, say, finish, lease } = await openTurn();
      const line = `${'x'.repeat(1_023)}\n`;
      for (let at = 0; at < 6; at += 1) say(line.repeat(1_024));
      await finish(true);
      let upTo = 0;
      let left = 0;
      for await (const { offset, bytes } of output.read('run-1', TURN, 'stdout')) {
        expect(offset).toBeGreaterThanOrEqual(upTo);
        expect(offset % line.length).toBe(0);
        left += offset - upTo;
        upTo = offset + bytes.length;
      }
      expect(upTo).toBe(6 << 20);
      expect(await output.sizes('run-1', TURN)).toMatchObject({ stdout: 6 << 20 });
      expect(left).toBeLessThan((2 << 20) + 2 * line.length);
      await lease.release();
    });
  });

  test(`random operations on ${name} agree with a model`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(randomHistory(8), { minLength: 1, maxLength: 3 }),
        fc.array(OPERATION, { minLength: 5, maxLength: 25 }),
        async (histories, operations) => {
          const model = new StorageModel(await open(), histories);
          try {
            for (const operation of operations) await model.run(operation);
          } finally {
            await model.close();
          }
        },
      ),
      { numRuns: 12 },
    );
  });
}

const OPERATION = fc.record({
  kind: fc.constantFrom('create', 'append', 'snapshot', 'read', 'backwards', 'has', 'list', 'resolve', 'observe'),
  which: fc.nat(20),
  amount: fc.nat(9),
});

type Operation = typeof OPERATION extends fc.Arbitrary<infer T> ? T : never;

interface ModelRun {
  readonly history: RunHistory;
  readonly lease: RunLease;
  saved: number;
}

/** What a storage must say after the operations so far: the runs in the order of their start, and how many steps each has. */
class StorageModel {
  private readonly harness: StorageHarness;
  private readonly histories: readonly RunHistory[];
  private readonly runs: ModelRun[] = [];

  constructor(harness: StorageHarness, histories: readonly RunHistory[]) {
    this.harness = harness;
    this.histories = histories;
  }

  async run({ kind, which, amount }: Operation): Promise<void> {
    const { storage } = this.harness;
    if (kind === 'create' || this.runs.length === 0) return this.create();
    if (kind === 'list') {
      const ids = this.runs.map(({ history }) => history.run.id).toReversed();
      return expect(
        (await storage.runs.list(amount % 2 === 0 ? 'summaries' : 'journals')).map(({ id }) => id),
      ).toStrictEqual(ids);
    }
    const meant = this.runs[which % this.runs.length];
    if (meant === undefined) return;
    const { id } = meant.history.run;
    const steps = async (): Promise<readonly JournaledStep[]> => collect(storage.journal.read(id));
    switch (kind) {
      case 'append': {
        const next = meant.history.steps.slice(meant.saved, meant.saved + 1 + (amount % 3));
        if (next.length > 0) await meant.lease.append(next);
        meant.saved += next.length;
        return;
      }
      case 'snapshot':
        return meant.lease.snapshot();
      case 'read': {
        const after = (await steps())[amount % (meant.saved + 1)] ?? JOURNAL_START;
        const read = await collect(storage.journal.read(id, which % 2 === 0 ? after : afterStep(after.seq)));
        return expect(seqsOf(read)).toStrictEqual(numbersTo(meant.saved, after.seq + 1));
      }
      case 'backwards': {
        const read = await collect(storage.journal.readBackwards(id), amount + 1);
        return expect(seqsOf(read)).toStrictEqual(
          numbersTo(meant.saved)
            .toReversed()
            .slice(0, amount + 1),
        );
      }
      case 'has': {
        const at = (await steps())[amount % (meant.saved + 1)] ?? JOURNAL_START;
        expect(await storage.journal.has(id, at)).toBe(true);
        return expect(await storage.journal.has(id, { ...at, seq: at.seq + 1 })).toBe(false);
      }
      case 'resolve': {
        expect(await storage.runs.resolve('last')).toBe(this.runs.at(-1)?.history.run.id);
        return expect(await storage.runs.resolve(id.slice(0, -1))).toBe(id);
      }
      default:
        return expect((await storage.runs.observe(id)).run).toStrictEqual(runAfter(meant.history, meant.saved));
    }
  }

  async close(): Promise<void> {
    for (const { lease } of this.runs) await lease.release();
  }

  private async create(): Promise<void> {
    const at = this.runs.length;
    const history = this.histories[at];
    if (history === undefined) return;
    const renamed = rename(history, `${String.fromCharCode(122 - at)}-run`, at);
    this.runs.push({ history: renamed, lease: await this.harness.create(renamed), saved: 0 });
  }
}
