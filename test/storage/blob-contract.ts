import { describe, expect, test } from 'vitest';
import type { Blobs, Leases } from '../../src/storage/storage.ts';
import { fixedHistory } from './run-history.ts';

/** A place for runs and their blobs, as the contract of all blobs needs it. */
export interface BlobHarness {
  readonly blobs: Blobs;
  /** Leases of a process that others find gone at once. */
  process(): Leases;
}

const ANYONE = { node: null, epoch: null, turn: null };
const bytesOf = (text: string): Uint8Array => Buffer.from(text);

/** The tests that the blobs of every storage must pass. */
export function describeBlobContract(name: string, open: () => Promise<BlobHarness>): void {
  const read = async (blobs: Blobs, key: string): Promise<string | null> => {
    const found = await blobs.get(key);
    return found && Buffer.from(found.bytes).toString();
  };

  describe(`${name} keeps the contract of blobs`, () => {
    test('a blob is what was put last, byte by byte, and missing before', async () => {
      const { blobs, process } = await open();
      const lease = await process().create(fixedHistory(0));
      const key = 'run/run-1/upload/main-1/a b.bin';
      expect(await blobs.get(key)).toBeNull();
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
      expect(await blobs.put(key, bytes, ANYONE)).toBe(true);
      expect(Buffer.from((await blobs.get(key))?.bytes ?? []).equals(bytes)).toBe(true);
      expect(await blobs.put(key, bytesOf(''), ANYONE)).toBe(true);
      expect(await read(blobs, key)).toBe('');
      await lease.release();
    });

    test('the holder of the lease may put, and an earlier holder may not', async () => {
      const { blobs, process } = await open();
      const lease = await process().create(fixedHistory(0));
      const key = 'run/run-1/conversation/s';
      expect(await blobs.put(key, bytesOf('first'), lease)).toBe(true);
      const next = await process().acquire('run-1');
      expect(await blobs.put(key, bytesOf('late'), lease)).toBe(false);
      expect(await read(blobs, key)).toBe('first');
      expect(await blobs.put(key, bytesOf('second'), next)).toBe(true);
      expect(await read(blobs, key)).toBe('second');
      await next.release();
      await lease.release().catch(() => {});
    });

    test('a guest without a turn of the run may not put', async () => {
      const { blobs, process } = await open();
      const lease = await process().create(fixedHistory(0));
      const guest = { node: 'two', epoch: null, turn: { agent: 'main', number: 1 } };
      expect(await blobs.put('run/run-1/conversation/s', bytesOf('x'), guest)).toBe(false);
      expect(await blobs.get('run/run-1/conversation/s')).toBeNull();
      await lease.release();
    });

    test('a prefix removes its keys and no others', async () => {
      const { blobs, process } = await open();
      const lease = await process().create(fixedHistory(0));
      for (const key of ['upload/a/1', 'upload/a/2', 'upload/ab/1'])
        await blobs.put(`run/run-1/${key}`, bytesOf(key), ANYONE);
      await blobs.remove('run/run-1/upload/a/');
      expect(await blobs.get('run/run-1/upload/a/1')).toBeNull();
      expect(await blobs.get('run/run-1/upload/a/2')).toBeNull();
      expect(await read(blobs, 'run/run-1/upload/ab/1')).toBe('upload/ab/1');
      await blobs.remove('run/run-1/upload/none/');
      await lease.release();
    });

    test('a workflow belongs to no run', async () => {
      const { blobs } = await open();
      expect(await blobs.put('workflow/abc', bytesOf('archive'), ANYONE)).toBe(true);
      expect(await read(blobs, 'workflow/abc')).toBe('archive');
    });
  });
}
