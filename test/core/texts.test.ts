import { expect, test } from 'vitest';
import { isNotDocFile } from '../../src/language/state-names.ts';
import { hasWildcard, matchesGlob } from '../../src/language/text/glob.ts';
import { formatJson, tryParseJson } from '../../src/language/text/json.ts';
import { memoize, memoizeByName } from '../../src/language/text/memoize.ts';
import { comparePositions, firstLine, WHOLE_FILE } from '../../src/language/text/text.ts';

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

test('positions follow each other by line, then by column, and the whole file comes first', () => {
  const positions = [{ line: 2, column: 1 }, { line: 1, column: 9 }, WHOLE_FILE, { line: 1, column: 3 }];
  expect(positions.toSorted(comparePositions)).toStrictEqual([
    { line: 0, column: 0 },
    { line: 1, column: 3 },
    { line: 1, column: 9 },
    { line: 2, column: 1 },
  ]);
});

test('a result is worked out once for each object, not for each value', () => {
  const asked: object[] = [];
  const count = memoize((key: object) => asked.push(key));
  const [a, b] = [{}, {}];
  expect([count(a), count(a), count(b), count(a)]).toStrictEqual([1, 1, 2, 1]);
});

test('a result is worked out once for each name', () => {
  const asked: string[] = [];
  const count = memoizeByName((name) => asked.push(name));
  expect([count('a'), count('b'), count('a')]).toStrictEqual([1, 2, 1]);
});

test('files for people and agents that work on a workflow are not states of it', () => {
  expect(['README.md', 'readme.MD', 'CLAUDE.md', 'agents.md', 'READ.md'].filter(isNotDocFile)).toStrictEqual([
    'READ.md',
  ]);
});
