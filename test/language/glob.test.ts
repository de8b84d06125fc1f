import { expect, test } from 'vitest';
import { matchesGlob, matchesWildcards } from '../../src/language/text/glob.ts';

test.each([
  ['*', '', true],
  ['a*c', 'abbc', true],
  ['a*c', 'abcd', false],
  ['*a?', 'xaab', true],
  ['?', '', false],
  ['**b', 'aab', true],
  ['a.c', 'abc', false],
])('%j over %j', (pattern, text, matches) => {
  expect(matchesWildcards(pattern, text)).toBe(matches);
});

test('no number of wildcards makes a pattern slow', () => {
  const text = 'a'.repeat(20_000);
  expect(matchesWildcards(`${'*a'.repeat(50)}b`, text)).toBe(false);
  expect(matchesGlob(`${'*a'.repeat(50)}b/**/x`, `${text}/y`)).toBe(false);
});
