import { expect, test } from 'vitest';
import type { Evaluator } from '../../src/core/policy.ts';
import { matchPatterns } from '../../src/turns/match-patterns.ts';

const patternOf = (pattern: string): Evaluator => ({
  kind: 'pattern',
  pattern,
  overridesOn: 'match',
  instead: { tag: 'goto', target: 'A.md', attributes: {} },
});
const GATE: Evaluator = { kind: 'script', file: 'GATE.sh' };

test.each([
  ['TODO|FIXME', 'a\nFIXME b', true],
  ['TODO|FIXME', 'done', false],
  ['^done$', 'a\ndone\nb', true],
  ['(?i)Done', 'well DONE', true],
  ['a.b', 'a\nb', false],
  ['(?s)a.b', 'a\nb', true],
  ['\\d+ failed', '12 failed', true],
])('%j over %j', (pattern, text, matches) => {
  expect(matchPatterns([GATE, patternOf(pattern)], text)).toStrictEqual([null, matches]);
});

test('a pattern that would take for ever is given up; those before it have their verdict', () => {
  const evil = patternOf('^(a+)+$');
  const text = `${'a'.repeat(60)}b`;
  expect(matchPatterns([patternOf('a*b'), evil, GATE, patternOf('a')], text, 50)).toStrictEqual([
    true,
    'timeout',
    null,
    'timeout',
  ]);
  expect(matchPatterns([evil], 'aaa', 50)).toStrictEqual([true]);
});

test.each(['(?:a|a)*$', '(a+)\\1+$', 'a*a*a*a*a*$', '(?=(a+)+$)b'])('%j is given up, too', (pattern) => {
  expect(matchPatterns([patternOf(pattern)], `${'a'.repeat(20_000)}b`, 50)).toStrictEqual(['timeout']);
});

test('a pattern that cannot be compiled any more matches nothing', () => {
  expect(matchPatterns([patternOf('(')], '(')).toStrictEqual([false]);
});
