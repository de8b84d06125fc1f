import { expect, test } from 'vitest';
import { stagger } from '../../src/turns/claude/protocol.ts';

test('starts are released in order, one by one: several at once would compete for one settings file', async () => {
  const goAhead = stagger(20);
  const through: number[] = [];
  const all = [1, 2, 3].map((n) => goAhead().then(() => through.push(n)));
  await all[0];
  await new Promise((resolve) => setImmediate(resolve));
  expect(through).toStrictEqual([1]);
  await Promise.all(all);
  expect(through).toStrictEqual([1, 2, 3]);
});
