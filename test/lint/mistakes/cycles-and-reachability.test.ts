import { describe, expect, test } from 'vitest';
import { lintSource } from '../../../src/lint/lint.ts';
import { sourceOf } from '../source-of.ts';
import { bash, check, END } from './check.ts';

describe('cycles and reachability:', () =>
  check([
    ['no way out of a prompt', { 'START.md': 'Look at the code until you know it.' }, ['no-way-out START.md:1:1']],
    [
      'no way out, though it names a state',
      { 'START.md': 'When done, proceed to END.', 'END.md': END },
      ['no-way-out START.md:1:1'],
    ],
    ['no way out of a script', { 'START.sh': bash('mkdir -p out', 'echo "all done"') }, ['no-way-out START.sh:1:1']],
    ['a script that leaves it to another program', { 'START.sh': bash('./decide --next'), 'END.md': END }, []],
    ['an unreachable state', { 'START.md': END, 'LOST.md': END }, ['unreachable-state LOST.md:0:0']],
    [
      'a stray note',
      { 'START.md': END, 'NOTES.md': '# How to\n\nSay `<goto>GHOST</goto>`' },
      ['unreachable-state NOTES.md:0:0'],
    ],
    [
      'tags of a sentence of which some are in code',
      {
        'START.md': 'Say `<goto>A.md</goto>` if all is well, or <goto>B.md</goto> when it is not.',
        'A.md': 'If so <goto>START.md</goto>, `<call return="C.md">B.md</call>` when it is too large.',
        'B.md': END,
        'C.md': END,
      },
      [],
    ],
    [
      'a loop whose way out is in code',
      { 'START.md': 'If more is to do <goto>START.md</goto>, else `<result>done</result>`.' },
      [],
    ],
    [
      'tags of a sentence in code that are only a form to fill in',
      { 'START.md': 'Tags look like `<goto>GHOST.md</goto>` or `<goto>NAME</goto>`. When done <result>x</result>.' },
      [],
    ],
    [
      'a code block that may be an example',
      {
        'START.md': 'Never this:\n\n```\n<goto>A.md</goto>\n```\n\nWhen done <result>x</result>.',
        'A.md': END,
      },
      [],
    ],
    [
      'a code block that is all there is',
      { 'START.md': 'When done say:\n\n```\n<goto>A.md</goto>\n```\n', 'A.md': END },
      [],
    ],
    [
      'two states that only lead to each other',
      { 'START.md': END, 'A.md': 'If so <goto>B.md</goto>.', 'B.md': 'If so <goto>A.md</goto>.' },
      ['unreachable-state A.md:0:0'],
    ],
    [
      'a loop without a way out',
      {
        'START.md': 'If so <goto>A.md</goto>.',
        'A.md': 'If so <reset>B.md</reset>.',
        'B.md': 'If so <goto>A.md</goto>.',
      },
      ['endless-loop A.md:1:7'],
    ],
    [
      'a loop that has one',
      {
        'START.md': 'If so <goto>A.md</goto>.',
        'A.md': 'If so <reset>B.md</reset>.',
        'B.md': 'If so <goto>A.md</goto>, else <result>x</result>.',
      },
      [],
    ],
    [
      'a loop that only max_visits ends',
      { 'START.md': '---\nmax_visits: 3\n---\nIf so <goto>START.md</goto>.' },
      ['ends-only-by-limit START.md:4:7'],
    ],
    [
      'a loop around a call that returns',
      { 'START.md': 'If so <call return="START">A.md</call>.', 'A.md': END },
      ['endless-loop START.md:1:7'],
    ],
    [
      'the loop of a worker',
      { 'START.md': 'If so <fork next="END">W.md</fork>.', 'W.md': 'If so <goto>W.md</goto>.', 'END.md': END },
      ['endless-loop W.md:1:7'],
    ],
  ]));

test('an unreachable state is only an info if the user gave the start state', () => {
  const source = sourceOf({ 'START.md': END, 'OTHER.md': END }, { entryGiven: true });
  expect(lintSource(source).map(({ rule, level }) => [rule, level])).toStrictEqual([['unreachable-state', 'info']]);
});
