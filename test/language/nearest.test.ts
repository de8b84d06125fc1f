import { expect, test } from 'vitest';
import { didYouMean, nearest } from '../../src/language/text/nearest.ts';

const STATES = ['START', 'REVIEW', 'IMPLEMENT', 'DONE', 'A'];

test.each([
  ['a letter left out', 'REVEW', 'REVIEW'],
  ['a letter too many', 'REVIEWW', 'REVIEW'],
  ['a wrong letter', 'REVIAW', 'REVIEW'],
  ['two letters swapped', 'DNOE', 'DONE'],
  ['another letter case', 'review', 'REVIEW'],
  ['another letter case of a single letter', 'a', 'A'],
  ['several slips in a long word', 'IMPLMNT', 'IMPLEMENT'],
])('finds the intended word: %s', (_, written, meant) => {
  expect(nearest(written, STATES)).toBe(meant);
});

test.each([
  ['a different word', 'PUBLISH'],
  ['a short word that shares a letter', 'DO'],
  ['nothing', ''],
  ['a single letter that is another one', 'X'],
  ['a very long word', 'REVIEW'.repeat(10_000)],
])('suggests nothing for %s', (_, written) => {
  expect(nearest(written, STATES)).toBeUndefined();
});

test('prefers the nearest of several, and of equals the first', () => {
  expect(nearest('STAT', ['STATE', 'STAT2', 'stat'])).toBe('stat');
  expect(nearest('STAT', ['STATE', 'STATS'])).toBe('STATE');
});

test('counts two swapped letters as one mistake', () => {
  expect(nearest('abc', ['acb'])).toBe('acb');
  expect(nearest('abc', ['axy'])).toBeUndefined();
});

test('suggests nothing without candidates', () => {
  expect(nearest('A', [])).toBeUndefined();
});

test('returns an empty text without a suggestion', () => {
  expect(didYouMean('REVEW', STATES)).toBe(' (did you mean REVIEW?)');
  expect(didYouMean('PUBLISH', STATES)).toBe('');
});
