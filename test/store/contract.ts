import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { RUN_VERSION, type Run } from '../../src/core/run.ts';
import type { RunStore } from '../../src/store/store.ts';
import { fixedHistory, type RunHistory, randomHistory, refusalOf, runAfter } from './run-history.ts';

/** A place for runs, as the contract of all stores needs it. */
export interface StoreHarness {
  /** Creates a run and opens it. Snapshots are taken only on request. */
  create(history: RunHistory): Promise<RunStore>;
  /** Opens a run as the next process would, whether the last one has closed it or not. */
  takeOver(id: string): Promise<{ readonly run: Run; readonly store: RunStore }>;
  load(id: string): Promise<Run>;
  readEvents(id: string): Promise<readonly Event[]>;
  /** Gives what is stored of a run another version. */
  setVersion(id: string, version: number): Promise<void>;
  /** All that is stored of a run, to be compared. */
  dump(id: string): Promise<unknown>;
}

/** The tests that every store must pass: on disk or in a database, a run is the same. */
export function describeStoreContract(name: string, open: () => Promise<StoreHarness>): void {
  const saveAll = async (store: RunStore, { steps }: RunHistory): Promise<void> => {
    for (const each of steps) await store.save([each]);
  };

  describe(`${name} keeps the contract of stores`, () => {
    test('a run exists once it is created, and its id is taken', async () => {
      const harness = await open();
      const history = fixedHistory(0);
      const store = await harness.create(history);
      expect(await harness.load('run-1')).toStrictEqual(history.run);
      expect(await harness.readEvents('run-1')).toStrictEqual(history.events);
      expect((await refusalOf(() => harness.create(history))).message).toBe('A run run-1 already exists.');
      await store.close();
    });

    test('saved steps count at once, and their events can be read in order', async () => {
      const harness = await open();
      const history = fixedHistory(12);
      const store = await harness.create(history);
      await saveAll(store, history);
      expect(await harness.load('run-1')).toStrictEqual(runAfter(history, history.steps.length));
      const events = [...history.events, ...history.steps.flatMap(({ step }) => step.events)];
      expect(await harness.readEvents('run-1')).toStrictEqual(events);
      await store.close();
    });

    test('a snapshot and the steps after it are the run, wherever it was taken', async () => {
      await fc.assert(
        fc.asyncProperty(randomHistory(15), fc.nat(15), async (history, at) => {
          const harness = await open();
          const store = await harness.create(history);
          for (const [index, each] of history.steps.entries()) {
            await store.save([each]);
            if (index === at) await store.snapshot();
          }
          const last = runAfter(history, history.steps.length);
          expect(await harness.load('run-1')).toStrictEqual(last);
          await store.close();
          expect(await harness.load('run-1')).toStrictEqual(last);
        }),
        { numRuns: 20 },
      );
    });

    test('steps that leave a gap are refused, and so are those that were saved before', async () => {
      const history = fixedHistory(4);
      const [first, second, third] = history.steps;
      if (first === undefined || second === undefined || third === undefined) throw new Error('too short');
      for (const [wrong, message] of [
        [third, 'step 3 of run run-1 cannot follow step 1'],
        [first, 'step 1 of run run-1 cannot follow step 1'],
      ] as const) {
        const harness = await open();
        const store = await harness.create(history);
        await store.save([first]);
        await expect(store.save([wrong])).rejects.toThrow(message);
        expect(await harness.load('run-1')).toStrictEqual(first.step.run);
        await store.close();
      }
    });

    test('who has lost the run can save nothing more, and nothing of it is lost', async () => {
      const harness = await open();
      const history = fixedHistory(6);
      const store = await harness.create(history);
      const [first, ...others] = history.steps;
      if (first === undefined) throw new Error('too short');
      await store.save([first]);
      const next = await harness.takeOver('run-1');
      expect(next.run).toStrictEqual(first.step.run);
      const refusal = await refusalOf(() => store.save(others.slice(0, 1)));
      expect(refusal.message).toBe('Run run-1 is no longer owned by this process: another one has taken it over.');
      await saveAll(next.store, { ...history, steps: others });
      await store.snapshot().catch(() => {});
      await store.close().catch(() => {});
      await next.store.close();
      expect(await harness.load('run-1')).toStrictEqual(runAfter(history, history.steps.length));
    });

    test('an older or newer version is refused and left alone', async () => {
      for (const version of [0, RUN_VERSION + 1]) {
        const harness = await open();
        const store = await harness.create(fixedHistory(0));
        await store.close();
        await harness.setVersion('run-1', version);
        const before = await harness.dump('run-1');
        expect((await refusalOf(() => harness.load('run-1'))).message).toContain(`has version ${version}`);
        expect((await refusalOf(() => harness.takeOver('run-1'))).message).toContain(`has version ${version}`);
        expect(await harness.dump('run-1')).toStrictEqual(before);
      }
    });

    test('the mark of a run stays the same', async () => {
      const harness = await open();
      const store = await harness.create(fixedHistory(0));
      const next = await harness.takeOver('run-1');
      expect(next.store.mark).toBe(store.mark);
      await next.store.close();
      await store.close().catch(() => {});
    });
  });
}
