import { describe, expect, test } from 'vitest';
import { buildGraph } from '../../src/graph/build.ts';
import type { WorkflowSource } from '../../src/graph/workflow-source.ts';
import { lintSource } from '../../src/lint/lint.ts';
import { FAR_BELOW_QUADRATIC, growthBetween } from '../core/growth.ts';
import { sourceOf } from './source-of.ts';

const FEW = 250;
const MANY = 8 * FEW;

/** The text of the state of this number, `n` of `size`; the first one is START.md, the others are S1.md and so on. */
type Shape = (n: number, size: number) => string;

const growth = (work: (source: WorkflowSource) => unknown, shape: Shape): number =>
  growthBetween(work, sourceOfSize(FEW, shape), sourceOfSize(MANY, shape));

const name = (n: number): string => (n === 0 ? 'START.md' : `S${n}.md`);

function sourceOfSize(size: number, shape: Shape): WorkflowSource {
  const files = Array.from({ length: size }, (_, n) => [name(n), shape(n, size)]);
  return sourceOf(Object.fromEntries(files));
}

const next = (n: number, size: number): string => name((n + 1) % size);
const last = (n: number, size: number): boolean => n === size - 1;

describe.each<readonly [string, Shape]>([
  ['a chain', (n, size) => (last(n, size) ? 'Then <result>x</result>.' : `Then <goto>${next(n, size)}</goto>.`)],
  [
    'a chain with a way back from everywhere',
    (n, size) => `If so <goto>${next(n, size)}</goto>, else <goto>START</goto> or <result>x</result>.`,
  ],
  ['one endless ring', (n, size) => `Then <goto>${next(n, size)}</goto>.`],
  [
    'rings at the end of each of many ways',
    (n) =>
      n % 2 === 1
        ? `Then <goto>${name(n)}</goto>.`
        : `If so <goto>${name(n + 1)}</goto>, else <goto>${name(n + 2)}</goto>.`,
  ],
  [
    'calls within calls',
    (n, size) =>
      last(n, size) ? 'Then <result>x</result>.' : `Then <call return="${next(n, size)}">${next(n, size)}</call>.`,
  ],
  [
    'calls that never return',
    (n, size) => `If so <call return="${next(n, size)}">${next(n, size)}</call>, else <goto>${name(n)}</goto>.`,
  ],
  [
    'calls that are abandoned',
    (n, size) =>
      last(n, size)
        ? 'Then <result>x</result>.'
        : `Then <call return="START">${next(n, size)}</call> or <reset stack="clear">${name(size - 1)}</reset>.`,
  ],
  [
    'workers of workers',
    (n, size) =>
      `Once {{item}} is known <fork next="${next(n, size)}" item="${n}">${next(n, size)}</fork> or <result>x</result>.`,
  ],
  ['forks without end', (n, size) => `Then <fork next="START">${next(n, size)}</fork>.`],
  [
    'variables that one way does not set',
    (n, size) =>
      `Once {{item}} is known <fork next="${next(n, size)}">${next(n, size)}</fork>, <fork next="START" item="1">START</fork> or <result>x</result>.`,
  ],
  [
    'variables that nothing sets',
    (n, size) => `Once {{v${n}}} is known <goto>${next(n, size)}</goto> or <result>x</result>.`,
  ],
  ['names that do not exist', (n) => `Then <goto>GHOST${n}.md</goto> or <goto>${name(n + 1)}</goto>.`],
  ['agents that go where they like', (n, size) => `Then <goto>{{result}}</goto> or <goto>${next(n, size)}</goto>.`],
  [
    'policies',
    (n, size) =>
      `---\nallowed_transitions:\n  - { tag: goto, target: ${next(n, size)} }\n  - { tag: call, target: ${next(n, size)}, return: START }\n  - { tag: result }\n---\nIf so <goto>${next(n, size)}</goto> or <call return="START">${next(n, size)}</call>, else <result>x</result>.`,
  ],
])('%s', (_, shape) => {
  test('is checked in linear time', () => {
    expect(growth(lintSource, shape)).toBeLessThan(FAR_BELOW_QUADRATIC);
  });
});

test('a workflow is drawn in linear time', () => {
  const shape: Shape = (n, size) =>
    `If so <goto>${next(n, size)}</goto>, else <call return="START">S1</call> or <result>x</result>.`;
  expect(growth(buildGraph, shape)).toBeLessThan(FAR_BELOW_QUADRATIC);
});

test('long scripts are parsed in linear time', () => {
  const shape = (branches: number) => {
    const body = Array.from(
      { length: branches },
      (_, n) => `if [ -f ${n} ]; then\n  echo "<goto>A${n % 100}</goto>"\n  exit\nfi\n`,
    );
    return sourceOf({ 'START.sh': `#!/bin/bash\n${body.join('')}` });
  };
  expect(growthBetween(lintSource, shape(FEW), shape(MANY))).toBeLessThan(FAR_BELOW_QUADRATIC);
});

const policed = (text: string): string =>
  `---\nallowed_transitions:\n  - { tag: fork, target: START, next: START }\n  - { tag: result }\n---\n${text}`;

test.each([
  ['opening tags', '<goto>'],
  ['beginnings of tags', '<goto '],
  ['tags that close themselves', '<result/>\n'],
  ['tags', '<goto>START</goto> '],
  ['forks', 'If so <fork next="START" a=1>START</fork> '],
  ['states that do not exist', '<goto>GHOST</goto>\n'],
  ['what looks like a tag', '<gotto>START</gotto>\n'],
  ['one long word', 'a'],
  ['blanks', ' '],
  ['braces', '{{'],
  ['variables', '{{x}} '],
  ['quotes', '"x" = '],
  ['backticks', '` '],
])('a prompt full of %s is checked in linear time, with a policy and without', (_, piece) => {
  const sourceFor = (length: number) => {
    const text = `input ${piece.repeat(Math.ceil(length / piece.length))}`;
    return sourceOf({ 'START.md': policed(text), '1_START.md': text }, { entry: { kind: 'found', file: 'START.md' } });
  };
  expect(growthBetween(lintSource, sourceFor(2 ** 12), sourceFor(2 ** 15))).toBeLessThan(FAR_BELOW_QUADRATIC);
});

test.each([
  ['words', 'a '],
  ['one long word', 'a'],
  ['quotes', '"a"'],
  ['expansions', '"$a"'],
  ['substitutions', '$(a)'],
  ['echoes', 'echo "<goto>START</goto>"\n'],
  ['conditions', '[ -f a ] && echo "<goto>START</goto>"\n'],
  ['here documents', 'cat <<E\n<goto>START</goto>\nE\n'],
  ['comments', '# <goto>START</goto>\n'],
  ['calls', 'if [ -f a ]; then say "<result>x</result>"; exit; fi\n', 'say() { echo "$1"; }\n'],
  ['values', 'if [ -f a ]; then t="<result>x</result>"; echo "$t"; exit; fi\n'],
  ['names between single quotes', "echo '<result>$a</result>'\n", 'a=1\n'],
  ['chained tests', ' && [ -f a ]', 'true'],
  ['chained alternatives', ' || grep x a', 'false'],
  ['the word read', 'read ', "echo '<result>$a</result>' #"],
])('a script full of %s is checked in linear time', (_, piece, begin = '') => {
  const sourceFor = (length: number) =>
    sourceOf({ 'START.sh': begin + piece.repeat(Math.ceil(length / piece.length)) });
  expect(growthBetween(lintSource, sourceFor(2 ** 12), sourceFor(2 ** 15))).toBeLessThan(FAR_BELOW_QUADRATIC);
});

test('a chain of twenty thousand steps is supported', () => {
  const size = 20_000;
  const source = sourceOfSize(size, (n) => `Then <goto>${next(n, size)}</goto>.`);
  expect(lintSource(source).map(({ rule, path }) => [rule, path.length])).toStrictEqual([['endless-loop', size]]);
}, 120_000);
