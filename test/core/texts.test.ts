import { expect, test } from 'vitest';
import { hasWildcard, matchesGlob } from '../../src/core/glob.ts';
import { formatJson, tryParseJson } from '../../src/core/json.ts';
import { firstLine } from '../../src/core/text.ts';

test.each([
  ['/a/b', '/a/b', true],
  ['/a/b/', '/a//b', true],
  ['/a/b', '/a/c', false],
  ['/a/*', '/a/b', true],
  ['/a/*', '/a/b/c', false],
  ['/a/*', '/a/..', false],
  ['/a/b?', '/a/b1', true],
  ['/a/b?', '/a/b', false],
  ['/a/x.y*', '/a/xzy1', false],
  ['/a/**', '/a', true],
  ['/a/**', '/a/b/c', true],
  ['/a/**', '/a/../etc', false],
  ['/**/c', '/a/b/c', true],
  ['/**/c/**/e', '/a/c/d/e', true],
  ['/**/c', '/a/b', false],
  ['/**/b/c', '/a/b/b/c', true],
])('the pattern %s and the path %s: %s', (pattern, path, expected) => {
  expect(matchesGlob(pattern, path)).toBe(expected);
});

test('only * and ? are wildcards', () => {
  expect(['a*', 'a?', '**', 'a[b]', 'a'].map(hasWildcard)).toStrictEqual([true, true, true, false, false]);
});

test('the first line of a text is the first that is not blank', () => {
  expect(['', '  \n\n one \n two', 'one'].map(firstLine)).toStrictEqual(['', 'one', 'one']);
});

test('a text that is no JSON has no value', () => {
  expect(['{"a":1}', '{'].map(tryParseJson)).toStrictEqual([{ a: 1 }, undefined]);
});

test('JSON escapes characters that control a terminal or the direction of text', () => {
  const value = 'a\u009b\u202eb';
  expect(formatJson(value)).toBe('"a\\u009b\\u202eb"');
  expect(JSON.parse(formatJson({ value }, 2))).toStrictEqual({ value });
});
