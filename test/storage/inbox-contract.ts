import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placeUploads, putAnswer, removeUploads } from '../../src/storage/answers.ts';
import {
  type FoundRequest,
  type InboxRequest,
  parseUploadKey,
  type RequestOutcome,
  stopIdOf,
} from '../../src/storage/requests.ts';
import type { Blobs, RunInbox, RunLease } from '../../src/storage/storage.ts';
import { refusalOf } from './run-history.ts';

/** The lease of a run, as far as requests need it. */
export interface RequestLease extends Pick<RunLease, 'leaseId' | 'settle'> {
  /** The pending requests as of now. */
  pending(): Promise<ReturnType<RunLease['pending']>>;
  /** Gives the run up; what was settled is stored. */
  close(): Promise<void>;
  /** Gives the run up as if this process had been killed. */
  abandon(): void;
}

/** A place for runs, as the contract of all inboxes needs it. */
export interface InboxHarness {
  readonly inbox: RunInbox;
  readonly blobs: Blobs;
  /** Creates a run that nobody drives; returns its id. */
  createRun(): Promise<string>;
  acquire(run: string): Promise<RequestLease>;
  /** Stores something under the id of a request that Raymond did not write. */
  plant(run: string, id: string): Promise<void>;
  removeRun(run: string): Promise<void>;
  /** The code of a module that opens an inbox as `inbox`. */
  readonly openElsewhere: string;
}

const message = (id: string, at = 1, text = id): InboxRequest => ({
  kind: 'message',
  id,
  by: 'anna@laptop',
  at,
  agent: 'main',
  text,
});
const answer = (id: string, text = 'yes'): InboxRequest => ({ kind: 'answer', id, by: 'anna', at: 5, text, files: [] });
const timeout = (id: string): InboxRequest => ({ kind: 'timeout', id, by: 'deadline', at: 6 });
const ACCEPTED: RequestOutcome = { kind: 'accepted', turn: 3 };

const ONE_OF_EACH: readonly InboxRequest[] = [
  { kind: 'stop', id: stopIdOf('now', 'abc'), by: 'b', at: 1, mode: 'now', lease: 'abc' },
  { kind: 'message', id: 'm', by: 'b', at: 2, agent: 'main_worker1', text: 'a "text"\n\twith ümläuts 🙂' },
  { kind: 'interrupt', id: 'i', by: 'b', at: 3, agent: 'main', text: null },
  { kind: 'interrupt', id: 'i2', by: 'b', at: 4, agent: 'main', text: 'go' },
  { kind: 'answer', id: 'main-1', by: 'b', at: 5, text: '', files: ['run/r/upload/g/a b.txt'] },
  { kind: 'timeout', id: 'main-2', by: 'deadline', at: 1_700_000_000_123 },
];

/** The tests that every inbox must pass: in files or in a database, a request has the same life. */
export function describeInboxContract(name: string, open: () => Promise<InboxHarness>): void {
  describe(`${name} keeps the contract of inboxes`, () => {
    test('a request of every kind is found as it was put, and pending', async () => {
      const { inbox, createRun } = await open();
      const run = await createRun();
      for (const request of ONE_OF_EACH) expect(await inbox.put(run, request)).toBe(true);
      for (const request of ONE_OF_EACH)
        expect(await inbox.find(run, request.id)).toStrictEqual({ request, outcome: null });
    });

    test('an id is used once: the second request is refused and changes nothing', async () => {
      const { inbox, createRun } = await open();
      const run = await createRun();
      expect(await inbox.put(run, message('a'))).toBe(true);
      expect(await inbox.put(run, message('a', 2, 'other'))).toBe(false);
      expect(await inbox.put(run, message('a'))).toBe(false);
      expect((await inbox.find(run, 'a'))?.request).toStrictEqual(message('a'));
    });

    test('the same id can be used in two runs', async () => {
      const { inbox, createRun } = await open();
      const [one, two] = [await createRun(), await createRun()];
      expect([await inbox.put(one, message('a')), await inbox.put(two, message('a'))]).toStrictEqual([true, true]);
      expect(await inbox.withdraw(one, 'a')).toBe(true);
      expect(await inbox.find(two, 'a')).not.toBe(null);
    });

    test('what was never put is not found, and cannot be withdrawn', async () => {
      const { inbox, createRun } = await open();
      const run = await createRun();
      expect([await inbox.find(run, 'a'), await inbox.withdraw(run, 'a')]).toStrictEqual([null, false]);
    });

    test('a run that does not exist takes no requests', async () => {
      const { inbox } = await open();
      expect((await refusalOf(() => inbox.put('none', message('a')))).message).toContain('none');
    });

    test('requests that are put while nobody drives the run are pending for its next driver, the oldest first', async () => {
      const { inbox, createRun, acquire } = await open();
      const run = await createRun();
      for (const at of [30, 10, 20]) await inbox.put(run, message(`m${at}`, at));
      await inbox.put(run, message('b', 15));
      await inbox.put(run, message('a', 15));
      const lease = await acquire(run);
      expect((await lease.pending()).map(({ id }) => id)).toStrictEqual(['m10', 'a', 'b', 'm20', 'm30']);
      await lease.close();
    });

    test('requests that are put while the run is driven are pending', async () => {
      const { inbox, createRun, acquire } = await open();
      const run = await createRun();
      const lease = await acquire(run);
      expect(await lease.pending()).toStrictEqual([]);
      await inbox.put(run, message('a'));
      expect(await lease.pending()).toStrictEqual([message('a')]);
      expect(await lease.pending()).toStrictEqual([message('a')]);
      await lease.close();
    });

    test('a settled request is pending no more and stays findable with its outcome, also for later drivers', async () => {
      const { inbox, createRun, acquire } = await open();
      const run = await createRun();
      for (const id of ['a', 'b', 'c']) await inbox.put(run, message(id));
      const lease = await acquire(run);
      await lease.pending();
      lease.settle('a', ACCEPTED);
      lease.settle('b', { kind: 'refused', reason: 'main has ended' });
      expect((await lease.pending()).map(({ id }) => id)).toStrictEqual(['c']);
      await lease.close();
      const later = await acquire(run);
      expect((await later.pending()).map(({ id }) => id)).toStrictEqual(['c']);
      await later.close();
      expect(await inbox.find(run, 'a')).toStrictEqual({ request: message('a'), outcome: ACCEPTED });
      expect((await inbox.find(run, 'b'))?.outcome).toStrictEqual({ kind: 'refused', reason: 'main has ended' });
    });

    test('a settled request keeps its id and its first outcome', async () => {
      const { inbox, createRun, acquire } = await open();
      const run = await createRun();
      await inbox.put(run, answer('main-1'));
      const lease = await acquire(run);
      await lease.pending();
      lease.settle('main-1', ACCEPTED);
      lease.settle('main-1', { kind: 'refused', reason: 'late' });
      lease.settle('unknown', ACCEPTED);
      await lease.close();
      expect(await inbox.put(run, answer('main-1', 'no'))).toBe(false);
      expect(await inbox.find(run, 'main-1')).toStrictEqual({ request: answer('main-1'), outcome: ACCEPTED });
    });

    test('a pending request can be withdrawn, and a settled one cannot', async () => {
      const { inbox, createRun, acquire } = await open();
      const run = await createRun();
      for (const id of ['a', 'b']) await inbox.put(run, message(id));
      const lease = await acquire(run);
      await lease.pending();
      expect(await inbox.withdraw(run, 'a')).toBe(true);
      expect(await inbox.find(run, 'a')).toBe(null);
      expect(await lease.pending()).toStrictEqual([message('b')]);
      lease.settle('b', ACCEPTED);
      await lease.close();
      expect(await inbox.withdraw(run, 'b')).toBe(false);
      expect((await inbox.find(run, 'b'))?.outcome).toStrictEqual(ACCEPTED);
      expect(await inbox.put(run, message('a', 9))).toBe(true);
    });

    test('of an answer and a timeout the first counts', async () => {
      const { inbox, createRun } = await open();
      const run = await createRun();
      for (const first of [answer('main-1'), timeout('main-2')]) {
        const second = first.kind === 'answer' ? timeout(first.id) : answer(first.id);
        expect([await inbox.put(run, first), await inbox.put(run, second)]).toStrictEqual([true, false]);
        expect((await inbox.find(run, first.id))?.request).toStrictEqual(first);
      }
    });

    test('of an answer and a timeout at the same moment one counts, and both senders know which', async () => {
      const { inbox, createRun } = await open();
      const run = await createRun();
      for (let round = 0; round < 10; round += 1) {
        const both = [answer(`q${round}`), timeout(`q${round}`)];
        const put = await Promise.all(both.map((request) => inbox.put(run, request)));
        expect(put.filter((isFirst) => isFirst)).toHaveLength(1);
        expect((await inbox.find(run, `q${round}`))?.request).toStrictEqual(both[put.indexOf(true)]);
      }
    });

    test('of many equal requests at once one is the first, and many different ones all count', async () => {
      const { inbox, createRun, acquire } = await open();
      const run = await createRun();
      const same = await Promise.all(Array.from({ length: 9 }, (_, at) => inbox.put(run, message('same', at))));
      expect(same.filter((isFirst) => isFirst)).toHaveLength(1);
      const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
      expect(new Set(await Promise.all(ids.map((id) => inbox.put(run, message(id)))))).toStrictEqual(new Set([true]));
      const lease = await acquire(run);
      expect(new Set((await lease.pending()).map(({ id }) => id))).toStrictEqual(new Set(['same', ...ids]));
      await lease.close();
    });

    test('a request survives the kill of its sender at any moment after it was put', async () => {
      const { inbox, createRun, openElsewhere } = await open();
      const run = await createRun();
      const request = message('kept');
      const code = `${openElsewhere}
        const put = await inbox.put(${JSON.stringify(run)}, ${JSON.stringify(request)});
        require('node:fs').writeSync(1, String(put));
        process.kill(process.pid, 'SIGKILL');`;
      const child = spawn(process.execPath, ['-e', `(async () => {${code}})()`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [chunk] = await once(child.stdout, 'data');
      await once(child, 'close');
      expect([String(chunk), child.signalCode]).toStrictEqual(['true', 'SIGKILL']);
      expect((await inbox.find(run, 'kept'))?.request).toStrictEqual(request);
    });

    test('a request whose driver was killed before it settled it is pending for the next one', async () => {
      const { inbox, createRun, acquire } = await open();
      const run = await createRun();
      await inbox.put(run, message('a'));
      const killed = await acquire(run);
      expect(await killed.pending()).toStrictEqual([message('a')]);
      killed.abandon();
      const next = await acquire(run);
      expect(await next.pending()).toStrictEqual([message('a')]);
      await next.close();
    });

    test('a request that cannot be read is told of, keeps its id and is no obstacle to others', async () => {
      const { inbox, createRun, acquire, plant } = await open();
      const run = await createRun();
      await plant(run, 'main-1');
      await inbox.put(run, message('a'));
      expect(await inbox.put(run, answer('main-1'))).toBe(false);
      const unreadable = { kind: 'unreadable', id: 'main-1', message: expect.stringContaining('main-1') };
      expect(await inbox.find(run, 'main-1')).toStrictEqual({ request: unreadable, outcome: null });
      const lease = await acquire(run);
      expect(await lease.pending()).toStrictEqual([unreadable, message('a')]);
      await lease.close();
      expect(await inbox.withdraw(run, 'main-1')).toBe(true);
      expect(await inbox.put(run, answer('main-1'))).toBe(true);
    });

    test('a long id and a long text come through', async () => {
      const { inbox, createRun } = await open();
      const run = await createRun();
      const request = message(`main_${'worker_'.repeat(30)}1-1`, 1, 'x'.repeat(200_000));
      await inbox.put(run, request);
      expect((await inbox.find(run, request.id))?.request).toStrictEqual(request);
    });

    test('the files of an answer are there when it is found, and those of a late answer are removed', async () => {
      const harness = await open();
      const { inbox, blobs, createRun } = harness;
      const run = await createRun();
      const folder = mkdtempSync(join(tmpdir(), 'raymond-uploads-'));
      try {
        writeFileSync(join(folder, 'in'), Buffer.from([0, 255, 10]));
        const files = [{ name: 'a b.bin', path: join(folder, 'in') }];
        const given = { ask: 'main-1', text: 't', by: 'b', answeredAt: 1 };
        expect(await putAnswer(harness, run, given, files)).toBe(true);
        const stored: string[] = [];
        const watched = { ...harness, blobs: { ...blobs, put: spyOn(blobs, stored) } };
        expect(await putAnswer(watched, run, { ...given, text: 'late' }, files)).toBe(false);
        expect(stored).toHaveLength(1);
        for (const key of stored) expect(await blobs.get(key)).toBe(null);
        const found = (await inbox.find(run, 'main-1'))?.request;
        const keys = found?.kind === 'answer' ? found.files : [];
        expect(keys.map((key) => parseUploadKey(key)?.name)).toStrictEqual(['a b.bin']);
        await placeUploads(blobs, keys, join(folder, 'out'));
        expect(readFileSync(join(folder, 'out', 'a b.bin'))).toStrictEqual(Buffer.from([0, 255, 10]));
        await removeUploads(blobs, keys);
        // After a crash they are placed again.
        await placeUploads(blobs, keys, join(folder, 'out'));
        expect(readdirSync(join(folder, 'out'))).toStrictEqual(['a b.bin']);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });

    test('the requests of a run are removed with it', async () => {
      const { inbox, createRun, removeRun } = await open();
      const [gone, kept] = [await createRun(), await createRun()];
      for (const run of [gone, kept]) await inbox.put(run, message('a'));
      await removeRun(gone);
      expect(await inbox.find(gone, 'a')).toBe(null);
      expect((await refusalOf(() => inbox.put(gone, message('b')))).message).toContain(gone);
      expect(await inbox.find(kept, 'a')).not.toBe(null);
    });

    test('whatever is done in whatever order, requests are as in a model', { timeout: 120_000 }, async () => {
      const harness = await open();
      const id = fc.constantFrom('a', 'b', 'c');
      const operation = fc.oneof(
        fc.record({ do: fc.constant('put' as const), id, at: fc.nat(5) }),
        fc.record({ do: fc.constantFrom('withdraw' as const, 'find' as const, 'settle' as const), id }),
        fc.record({ do: fc.constantFrom('crash' as const, 'pending' as const) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 30 }), (operations) => compareWithModel(harness, operations)),
        { numRuns: 40 },
      );
    });
  });
}

const spyOn =
  (blobs: Blobs, keys: string[]): Blobs['put'] =>
  (key, bytes, by) => {
    keys.push(key);
    return blobs.put(key, bytes, by);
  };

type Operation =
  | { readonly do: 'put'; readonly id: string; readonly at: number }
  | { readonly do: 'withdraw' | 'find' | 'settle'; readonly id: string }
  | { readonly do: 'crash' | 'pending' };

async function compareWithModel(harness: InboxHarness, operations: readonly Operation[]): Promise<void> {
  const { inbox, createRun, acquire } = harness;
  const run = await createRun();
  let lease = await acquire(run);
  const model = new Map<string, FoundRequest & { readonly request: InboxRequest }>();
  const pendingOf = (): readonly InboxRequest[] =>
    [...model.values()]
      .flatMap(({ request, outcome }) => (outcome === null ? [request] : []))
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  for (const each of operations) {
    if (each.do === 'put') {
      expect(await inbox.put(run, message(each.id, each.at))).toBe(!model.has(each.id));
      if (!model.has(each.id)) model.set(each.id, { request: message(each.id, each.at), outcome: null });
    } else if (each.do === 'withdraw') {
      const isPending = model.get(each.id)?.outcome === null;
      expect(await inbox.withdraw(run, each.id)).toBe(isPending);
      if (isPending) model.delete(each.id);
    } else if (each.do === 'settle') {
      const found = model.get(each.id);
      await lease.pending();
      lease.settle(each.id, ACCEPTED);
      // It is stored by and by; a driver that gives the run up waits for that.
      await lease.close();
      lease = await acquire(run);
      if (found?.outcome === null) model.set(each.id, { ...found, outcome: ACCEPTED });
    } else if (each.do === 'crash') {
      lease.abandon();
      lease = await acquire(run);
    } else if (each.do === 'find') expect(await inbox.find(run, each.id)).toStrictEqual(model.get(each.id) ?? null);
    expect(await lease.pending()).toStrictEqual(pendingOf());
  }
  await lease.close();
}
