import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLists } from '../../src/testing/difference.ts';

const shown = (expected: string, actual: string): string =>
  diffLists([...expected], [...actual])
    .map(({ sign, text }) => `${sign}${text}`)
    .join('');

test.each([
  ['abc', 'abc', ' a b c'],
  ['abc', 'ac', ' a-b c'],
  ['ac', 'abc', ' a+b c'],
  ['abc', 'axc', ' a-b+x c'],
  ['', 'ab', '+a+b'],
  ['ab', '', '-a-b'],
  ['abab', 'ab', ' a b-a-b'],
  ['abcd', 'xbyd', '-a+x b-c+y d'],
])('%s is not %s: %s', (expected, actual, lines) => {
  expect(shown(expected, actual)).toBe(lines);
});

test('kept and removed lines are the expected text, kept and added lines are the actual text', () => {
  const list = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
  fc.assert(
    fc.property(list, list, (expected, actual) => {
      const lines = diffLists(expected, actual);
      const without = (sign: string) => lines.filter((line) => line.sign !== sign).map(({ text }) => text);
      expect(without('+')).toStrictEqual(expected);
      expect(without('-')).toStrictEqual(actual);
    }),
  );
});

test('lists that are too long to compare are shown one after the other', () => {
  const [a, b] = [Array.from({ length: 3000 }, (_, at) => `a${at}`), Array.from({ length: 3000 }, (_, at) => `b${at}`)];
  expect(
    diffLists(a, b)
      .map(({ sign }) => sign)
      .join(''),
  ).toBe('-'.repeat(3000) + '+'.repeat(3000));
});
