import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/core/run/event.ts';
import { RUN_VERSION, type Run } from '../../src/core/run/run.ts';
import type { Leases, RunLease } from '../../src/storage/storage.ts';
import { fixedHistory, type RunHistory, randomHistory, refusalOf, runAfter } from './run-history.ts';

/** A place for runs, as the contract of all leases needs it. Snapshots are taken only on request. */
export interface LeaseHarness {
  /** Leases of a process that others find gone at once: the next one may always acquire its runs. */
  process(boot?: string): Leases;
  /** Lets others find the holder of this lease alive. */
  keepAlive(lease: RunLease): Promise<void>;
  /** Leases of a command, which must not take runs from others. */
  readonly command: Leases;
  load(id: string): Promise<Run>;
  readEvents(id: string): Promise<readonly Event[]>;
  /** Gives the stored snapshot of a run another version. */
  setVersion(id: string, version: number): Promise<void>;
  /** Damages the stored snapshot of a run. */
  damage(id: string): Promise<void>;
  /** All that is stored of a run, to be compared. */
  dump(id: string): Promise<unknown>;
}

const LOST = 'Run run-1 is no longer owned by this process: another one has taken it over.';

const appendAll = async (lease: RunLease, { steps }: RunHistory): Promise<void> => {
  for (const each of steps) await lease.append([each]);
};

/** The first steps of a history, each of which a test needs. */
function takeSteps<Count extends number>(history: RunHistory, count: Count): RunHistory['steps'] {
  if (history.steps.length < count) throw new Error('the history is too short');
  return history.steps.slice(0, count);
}

/** The tests that the leases of every storage must pass: in files or in a database, a run is the same. */
export function describeLeaseContract(name: string, open: () => Promise<LeaseHarness>): void {
  describe(`${name} keeps the contract of leases`, () => {
    test('a run exists once it is created, and its id is taken', async () => {
      const harness = await open();
      const history = fixedHistory(0);
      const lease = await harness.process().create(history);
      expect(lease.run).toStrictEqual(history.run);
      expect(await harness.load('run-1')).toStrictEqual(history.run);
      expect(await harness.readEvents('run-1')).toStrictEqual(history.events);
      const refusal = await refusalOf(() => harness.process().create(history));
      expect(refusal.message).toBe('A run run-1 already exists.');
      expect(await harness.load('run-1')).toStrictEqual(history.run);
      await lease.release();
    });

    test('a run that does not exist cannot be acquired', async () => {
      const harness = await open();
      for (const leases of [harness.process(), harness.command])
        expect((await refusalOf(() => leases.acquire('nope'))).message).toBe('no such run: nope');
    });

    test('appended steps count at once, and their events can be read in order', async () => {
      const harness = await open();
      const history = fixedHistory(12);
      const lease = await harness.process().create(history);
      await appendAll(lease, history);
      expect(await harness.load('run-1')).toStrictEqual(runAfter(history, history.steps.length));
      const events = [...history.events, ...history.steps.flatMap(({ step }) => step.events)];
      expect(await harness.readEvents('run-1')).toStrictEqual(events);
      await lease.release();
    });

    test('steps that are appended together count together', async () => {
      const harness = await open();
      const history = fixedHistory(12);
      const lease = await harness.process().create(history);
      await lease.append([]);
      await lease.append(history.steps);
      expect(await harness.load('run-1')).toStrictEqual(runAfter(history, history.steps.length));
      await lease.release();
    });

    test('a snapshot and the steps after it are the run, wherever it was taken', async () => {
      await fc.assert(
        fc.asyncProperty(randomHistory(15), fc.nat(15), async (history, at) => {
          const harness = await open();
          const lease = await harness.process().create(history);
          for (const [index, each] of history.steps.entries()) {
            await lease.append([each]);
            if (index === at) await lease.snapshot();
          }
          const last = runAfter(history, history.steps.length);
          expect(await harness.load('run-1')).toStrictEqual(last);
          await lease.release();
          expect(await harness.load('run-1')).toStrictEqual(last);
        }),
        { numRuns: 20 },
      );
    });

    test('steps that leave a gap are refused, and so are those that were appended before', async () => {
      const history = fixedHistory(4);
      const [first, , third] = takeSteps(history, 3);
      if (first === undefined || third === undefined) throw new Error('too short');
      for (const [wrong, message] of [
        [third, 'step 3 of run run-1 cannot follow step 1'],
        [first, 'step 1 of run run-1 cannot follow step 1'],
      ] as const) {
        const harness = await open();
        const lease = await harness.process().create(history);
        await lease.append([first]);
        await expect(lease.append([wrong])).rejects.toThrow(message);
        expect(await harness.load('run-1')).toStrictEqual(first.step.run);
        await lease.release();
      }
    });

    test('a process that has lost the run can append nothing more, and nothing of it is lost', async () => {
      const harness = await open();
      const history = fixedHistory(6);
      const lease = await harness.process().create(history);
      await lease.append(history.steps.slice(0, 1));
      const next = await harness.process().acquire('run-1');
      expect(next.run).toStrictEqual(runAfter(history, 1));
      expect(lease.lost.aborted).toBe(false);
      const refusal = await refusalOf(() => lease.append(history.steps.slice(1, 2)));
      expect(refusal.message).toBe(LOST);
      expect(lease.lost.aborted).toBe(true);
      expect(lease.lost.reason).toMatchObject({ message: LOST });
      expect(await refusalOf(() => lease.append(history.steps.slice(2, 3)))).toMatchObject({ message: LOST });
      await appendAll(next, { ...history, steps: history.steps.slice(1) });
      await lease.snapshot().catch(() => {});
      await lease.release().catch(() => {});
      await next.release();
      expect(await harness.load('run-1')).toStrictEqual(runAfter(history, history.steps.length));
    });

    test('the snapshot of a process that has lost the run does not replace the current one', async () => {
      const harness = await open();
      const history = fixedHistory(6);
      const lease = await harness.process().create(history);
      await lease.append(history.steps.slice(0, 2));
      const next = await harness.process().acquire('run-1');
      await next.append(history.steps.slice(2));
      await next.release();
      const before = await harness.dump('run-1');
      await lease.snapshot().catch(() => {});
      await lease.release().catch(() => {});
      expect(await harness.dump('run-1')).toStrictEqual(before);
    });

    test('a lease is confirmed until another process has the run', async () => {
      const harness = await open();
      const lease = await harness.process().create(fixedHistory(0));
      await lease.confirm();
      await lease.confirm();
      const next = await harness.process().acquire('run-1');
      expect(await refusalOf(() => lease.confirm())).toMatchObject({ message: LOST });
      expect(lease.lost.aborted).toBe(true);
      await next.confirm();
      await next.release();
      await lease.release().catch(() => {});
    });

    test('a run that is driven is refused to others, and left alone', async () => {
      const harness = await open();
      const history = fixedHistory(2);
      const lease = await harness.process().create(history);
      await harness.keepAlive(lease);
      const before = await harness.dump('run-1');
      const refusal = await refusalOf(() => harness.command.acquire('run-1'));
      expect(refusal.message).toContain('The run run-1 is driven by');
      expect(refusal.hint).toBe('Wait for it, or stop it: `raymond stop run-1`.');
      expect(await harness.dump('run-1')).toStrictEqual(before);
      await lease.append(history.steps);
      await lease.release();
    });

    test('a run whose driver is gone can be acquired by a command', async () => {
      const harness = await open();
      const history = fixedHistory(2);
      const lease = await harness.process().create(history);
      await lease.append(history.steps.slice(0, 1));
      const next = await harness.command.acquire('run-1');
      expect(next.run).toStrictEqual(runAfter(history, 1));
      await next.append(history.steps.slice(1));
      await next.release();
      expect(await refusalOf(() => lease.append(history.steps.slice(1)))).toMatchObject({ message: LOST });
      expect(await harness.load('run-1')).toStrictEqual(runAfter(history, history.steps.length));
      await lease.release().catch(() => {});
    });

    test('a released run continues where it was, every time', async () => {
      const harness = await open();
      const history = fixedHistory(20);
      await (await harness.process().create(history)).release();
      for (const taken of history.steps) {
        const lease = await harness.process().acquire('run-1');
        expect(lease.run).toStrictEqual(taken.before);
        expect(lease.damage).toStrictEqual([]);
        await lease.append([taken]);
        await lease.release();
      }
      expect(await harness.load('run-1')).toStrictEqual(runAfter(history, history.steps.length));
    });

    test('an abandoned run has all that was appended, and is free for the next process', async () => {
      const harness = await open();
      const history = fixedHistory(8);
      const lease = await harness.process().create(history);
      await lease.append(history.steps.slice(0, 4));
      lease.abandon();
      await expect(lease.append(history.steps.slice(4, 5))).rejects.toThrow();
      const next = await harness.process().acquire('run-1');
      expect(next.run).toStrictEqual(runAfter(history, 4));
      await next.append(history.steps.slice(4));
      await next.release();
      expect(await harness.load('run-1')).toStrictEqual(runAfter(history, history.steps.length));
    });

    test('each holder has a higher epoch than all before, and the same mark', async () => {
      const harness = await open();
      const leases = [await harness.process().create(fixedHistory(0))];
      for (let again = 0; again < 3; again++) leases.push(await harness.process().acquire('run-1'));
      const epochs = leases.map(({ epoch }) => epoch ?? 0);
      expect(epochs).toStrictEqual(epochs.toSorted((a, b) => a - b));
      expect(new Set(epochs).size).toBe(leases.length);
      expect(new Set(leases.map(({ mark }) => mark)).size).toBe(1);
      for (const lease of leases.reverse()) await lease.release().catch(() => {});
    });

    test('turns on record are doubtful after a reboot, until they have ended', async () => {
      const harness = await open();
      const history = fixedHistory(12);
      const began = history.steps.findIndex(({ step }) => step.events.some(({ kind }) => kind === 'turn_started')) + 1;
      const turn = { agent: 'main', number: 1 };
      const lease = await harness.process('before').create(history);
      await lease.append(history.steps.slice(0, began));
      expect(lease.isDoubtful(turn)).toBe(false);
      lease.abandon();
      const same = await harness.process('before').acquire('run-1');
      expect(same.isDoubtful(turn)).toBe(false);
      same.abandon();
      const rebooted = await harness.process('after').acquire('run-1');
      expect(rebooted.isDoubtful(turn)).toBe(true);
      expect(rebooted.isDoubtful({ agent: 'main', number: 2 })).toBe(false);
      rebooted.abandon();
      // It does not matter how many processes have come and gone since.
      const later = await harness.process('after').acquire('run-1');
      expect(later.isDoubtful(turn)).toBe(true);
      await later.append(history.steps.slice(began));
      await later.release();
      const ended = await harness.process('after').acquire('run-1');
      expect(ended.isDoubtful(turn)).toBe(false);
      await ended.release();
    });

    test('a damaged snapshot is repaired and reported, or refused; it is never believed', async () => {
      const harness = await open();
      const history = fixedHistory(6);
      const lease = await harness.process().create(history);
      await lease.append(history.steps);
      await lease.release();
      await harness.damage('run-1');
      const before = await harness.dump('run-1');
      const acquired = await harness
        .process()
        .acquire('run-1')
        .catch((error: unknown) => error);
      if (acquired instanceof Error) {
        expect(acquired.message).toContain('is not as Raymond wrote it');
        expect(await harness.dump('run-1')).toStrictEqual(before);
        return;
      }
      const repaired = acquired as RunLease;
      expect(repaired.damage).toHaveLength(1);
      expect(repaired.run).toStrictEqual(runAfter(history, history.steps.length));
      await repaired.release();
    });

    test('an older or newer version is refused and left alone', async () => {
      for (const version of [0, RUN_VERSION + 1]) {
        const harness = await open();
        const lease = await harness.process().create(fixedHistory(0));
        await lease.release();
        await harness.setVersion('run-1', version);
        const before = await harness.dump('run-1');
        expect((await refusalOf(() => harness.load('run-1'))).message).toContain(`has version ${version}`);
        const refusal = await refusalOf(() => harness.process().acquire('run-1'));
        expect(refusal.message).toContain(`has version ${version}`);
        expect(await harness.dump('run-1')).toStrictEqual(before);
      }
    });

    test('whatever its processes do, a run is what the last holder has appended', async () => {
      const operation = fc.constantFrom(...(['append', 'snapshot', 'crash', 'acquire', 'late'] as const));
      await fc.assert(
        fc.asyncProperty(randomHistory(30), fc.array(operation, { maxLength: 25 }), async (history, operations) => {
          const harness = await open();
          let holder: RunLease | null = await harness.process().create(history);
          const former: RunLease[] = [];
          let saved = 0;
          for (const each of operations) {
            const next = history.steps.slice(saved, saved + 2);
            if (each === 'append' && holder !== null) {
              await holder.append(next);
              saved += next.length;
            } else if (each === 'snapshot') await holder?.snapshot();
            else if (each === 'crash') {
              holder?.abandon();
              holder = null;
            } else if (each === 'acquire') {
              if (holder !== null) former.push(holder);
              holder = await harness.process().acquire('run-1');
              expect(holder.run).toStrictEqual(runAfter(history, saved));
            } else {
              const late = former.pop();
              if (late !== undefined && next.length > 0) await expect(late.append(next)).rejects.toThrow();
              await late?.snapshot().catch(() => {});
              await late?.release().catch(() => {});
            }
            expect(await harness.load('run-1')).toStrictEqual(runAfter(history, saved));
          }
          for (const late of former) late.abandon();
          await holder?.release();
          expect(await harness.load('run-1')).toStrictEqual(runAfter(history, saved));
        }),
        { numRuns: 30 },
      );
    });
  });
}
