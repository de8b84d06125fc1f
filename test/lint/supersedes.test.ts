import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lintSource } from '../../src/lint/lint.ts';
import { RULES } from '../../src/lint/rules/index.ts';
import { readRuleExamples } from './docs.ts';
import { bash, END, policy } from './mistakes/check.ts';
import { type Files, sourceOf } from './source-of.ts';

/** Workflows with a mistake and what follows from it. */
const CASCADES: readonly Files[] = [
  { 'START.md': `If so <got>A.md</got>. ${END}`, 'A.md': 'When done <goto>B</goto>.', 'B.md': END },
  { 'START.sh': bash('echo "<fork>W.md</fork>"', 'echo "<join next=\'A.md\'/>"'), 'W.md': END, 'A.md': END },
  { 'START.sh': '---\nmodel: opus\n---\necho "<result>x</result>"\n' },
  {
    'START.md': 'When done <call return="END">A</call>.',
    'A.md': policy(
      ['tag: goto, target: A.md', 'tag: reset, target: A.md'],
      '<goto>A</goto>, <reset>A</reset> or <result>x</result>.',
    ),
    'END.md': END,
  },
];

describe('which mistakes make others redundant', () => {
  test('is declared by rules that exist, and none supersedes itself', () => {
    const ids: readonly string[] = RULES.map(({ id }) => id);
    for (const { id, supersedes = [] } of RULES) {
      expect(ids).toEqual(expect.arrayContaining([...supersedes]));
      expect(supersedes).not.toContain(id);
    }
  });

  test.each(
    [...readRuleExamples().map(({ bad }) => bad), ...CASCADES].map(
      (files) => [Object.keys(files).join(' '), files] as const,
    ),
  )('does not depend on the order of the rules: %s', (_, files) => {
    const source = sourceOf(files);
    const expected = lintSource(source);
    const shuffled = fc.shuffledSubarray([...RULES], { minLength: RULES.length });
    fc.assert(
      fc.property(shuffled, (rules) => {
        expect(lintSource(source, rules)).toStrictEqual(expected);
      }),
      { numRuns: 10 },
    );
  });

  test('does not depend on whether the superseding mistake is allowed', () => {
    const files = { 'START.sh': '# lint: allow unquoted-tag\necho <goto>A.md</goto>\n', 'A.md': END };
    expect(lintSource(sourceOf(files)).map(({ rule }) => rule)).not.toContain('unreachable-state');
  });
});
