import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runWithinLimit } from '../../src/cli/commands/recover.ts';

/** Items that end or only wait when the test says so. */
function controlled(count: number, limit: number, isStopped = () => false) {
  const begun: number[] = [];
  const controls = new Map<number, { readonly end: () => void; readonly release: () => void }>();
  const items = Array.from({ length: count }, (_, item) => item);
  const handle = (item: number, release: () => void): Promise<number> => {
    begun.push(item);
    return new Promise((end) => controls.set(item, { end: () => end(item), release }));
  };
  const results = runWithinLimit(items, limit, handle, isStopped);
  const settle = async (): Promise<void> => {
    for (let ticks = 0; ticks < 10; ticks++) await Promise.resolve();
  };
  return { begun, controls, results, settle };
}

test('begins as many as may work at once, and another whenever one ends', async () => {
  const { begun, controls, results, settle } = controlled(4, 2);
  expect(begun).toStrictEqual([0, 1]);
  controls.get(1)?.end();
  await settle();
  expect(begun).toStrictEqual([0, 1, 2]);
  controls.get(0)?.end();
  controls.get(2)?.end();
  await settle();
  controls.get(3)?.end();
  expect(await results).toStrictEqual([0, 1, 2, 3]);
});

test('items that only wait hold up no others, however many there are', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 4 }), async (count, limit) => {
      const { begun, controls, results, settle } = controlled(count, limit);
      for (let item = 0; item < count; item++) {
        expect(begun).toContain(item);
        controls.get(item)?.release();
        // Once more, as a run may wait for a second limit.
        controls.get(item)?.release();
        await settle();
      }
      for (const { end } of controls.values()) end();
      expect(await results).toHaveLength(count);
    }),
  );
});

test('begins no more once it is stopped, and waits for those that have begun', async () => {
  let stopped = false;
  const { begun, controls, results, settle } = controlled(3, 1, () => stopped);
  stopped = true;
  controls.get(0)?.end();
  await settle();
  expect(begun).toStrictEqual([0]);
  expect(await results).toStrictEqual([0]);
});

test('an item that throws is reported when the others have ended', async () => {
  const ended: string[] = [];
  const failing = runWithinLimit(
    ['bad', 'good'],
    1,
    async (item) => {
      if (item === 'bad') throw new Error('broken');
      ended.push(item);
    },
    () => false,
  );
  await expect(failing).rejects.toThrow('broken');
  expect(ended).toStrictEqual(['good']);
});
