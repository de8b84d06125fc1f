import { expect, test } from 'vitest';
import type { Evaluator } from '../../src/language/policy.ts';
import { matchPatterns } from '../../src/turns/signals.ts';

const patternOf = (pattern: string): Evaluator => ({
  kind: 'pattern',
  pattern,
  overridesOn: 'match',
  instead: { tag: 'goto', target: 'A.md', attributes: {} },
});
const GATE: Evaluator = { kind: 'script', file: 'GATE.sh' };

/** Needs the engine of JavaScript because of its lookahead, and exponential time. */
const EVIL = patternOf('(?=(a+)+$)b');
const LONG = `${'a'.repeat(20_000)}b`;

test.each([
  ['TODO|FIXME', 'a\nFIXME b', true],
  ['TODO|FIXME', 'done', false],
  ['^done$', 'a\ndone\nb', true],
  ['(?i)Done', 'well DONE', true],
  ['a.b', 'a\nb', false],
  ['(?s)a.b', 'a\nb', true],
  ['\\d+ failed', '12 failed', true],
])('%j over %j', async (pattern, text, matches) => {
  expect(await matchPatterns([GATE, patternOf(pattern)], text)).toStrictEqual([null, matches]);
});

test.each(['^(a+)+$', '^(?:a|a)*$', '^a*a*a*a*a*$', '^(a|aa)+$', '^(\\w+\\s?)*$', '(.*a){20}$'])(
  '%j is matched in linear time',
  async (pattern) => {
    expect(await matchPatterns([patternOf(pattern)], `${LONG}!`)).toStrictEqual([false]);
  },
);

test('a pattern that takes too long is given up; those before it have their verdict', async () => {
  const patterns = [patternOf('a*b'), EVIL, GATE, patternOf('a')];
  expect(await matchPatterns(patterns, LONG, 50)).toStrictEqual([true, 'timeout', null, 'timeout']);
});

test.each(['(a+)\\1+$', '(?=(a+)+$)b', '(?<!(a+)+)$'])('%j is given up, too', async (pattern) => {
  expect(await matchPatterns([patternOf(pattern)], LONG, 50)).toStrictEqual(['timeout']);
});

test('the main thread is free while a pattern is matched', async () => {
  let turns = 0;
  const counting = setInterval(() => turns++, 1);
  expect(await matchPatterns([EVIL], LONG, 200)).toStrictEqual(['timeout']);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(5);
});

test('a pattern that cannot be compiled any more matches nothing', async () => {
  expect(await matchPatterns([patternOf('(')], '(')).toStrictEqual([false]);
});
