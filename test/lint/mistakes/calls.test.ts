import { describe, expect, test } from 'vitest';
import { lintSource } from '../../../src/lint/lint.ts';
import { sourceOf } from '../source-of.ts';
import { bash, check, END, policy } from './check.ts';

describe('calls:', () =>
  check([
    [
      'a call that never returns',
      {
        'START.md': 'If so <call return="END">A</call>, else <goto>END</goto>.',
        'A.md': 'If so <goto>B</goto>.',
        'B.md': 'If so <goto>A</goto>.',
        'END.md': END,
      },
      ['never-returns START.md:1:7'],
    ],
    [
      'and a state that waits for it',
      {
        'START.md': 'If so <call return="END">A</call>.',
        'A.md': 'If so <goto>B</goto>.',
        'B.md': 'If so <goto>A</goto>.',
        'END.md': 'If so <goto>LAST</goto>.',
        'LAST.md': END,
      },
      ['never-returns START.md:1:7'],
    ],
    [
      'a callee whose tags are values of a variable',
      {
        'START.md': 'If so <call return="END">A</call>, else <goto>END</goto>.',
        'A.sh': bash(
          `if [ -f x ]; then t='<goto>B</goto>'`,
          `else t='<reset stack="clear">END</reset>'; fi`,
          'echo "$t"',
        ),
        'B.md': 'If so <goto>A</goto>.',
        'END.md': END,
      },
      ['never-returns START.md:1:7'],
    ],
    [
      'a callee of whose tags not all are known',
      {
        'START.md': 'If so <call return="END">A</call>, else <goto>END</goto>.',
        'A.sh': bash('if [ -f x ]; then t=$(cat x)', `else t='<goto>B</goto>'; fi`, 'echo "$t"'),
        'B.md': 'If so <goto>A</goto>.',
        'END.md': END,
      },
      [],
    ],
    [
      'a callee with an attribute out of a variable',
      {
        'START.md': 'If so <call return="END">A</call>, else <goto>END</goto>.',
        'A.sh': bash(`how='stack="clear"'`, 'echo "<reset $how>END</reset>"'),
        'END.md': END,
      },
      ['never-returns START.md:1:7'],
    ],
    [
      'a loop that only the limit of a callee ends',
      {
        'START.md': policy(['tag: call, target: A.md, return: START.md'], 'Stop when done.'),
        'A.md': `---\nmax_visits: 4\n---\n${END}`,
      },
      ['ends-only-by-limit START.md:3:5', 'implicit-transition START.md:3:5'],
    ],
    [
      'only the innermost of several',
      {
        'START.md': 'If so <call return="END">A</call>, else <goto>END</goto>.',
        'A.md': 'If so <function return="END">B</function>.',
        'B.md': 'If so <goto>B</goto>.',
        'END.md': END,
      },
      ['never-returns A.md:1:7'],
    ],
    [
      'a callee that clears the stack',
      {
        'START.md': 'If so <call return="END">A</call>, else <goto>END</goto>.',
        'A.md': 'If so <reset stack="clear">END</reset>.',
        'END.md': END,
      },
      ['never-returns START.md:1:7'],
    ],
    [
      'a callee that may clear the stack',
      {
        'START.md': 'If so <call return="END">A</call>.',
        'A.md': 'If so <reset stack="clear">END</reset>, else <result>x</result>.',
        'END.md': END,
      },
      [],
    ],
    [
      'a callee that resets, if that clears the stack',
      {
        'START.md': 'If so <call return="END">A</call>, else <goto>END</goto>.',
        'A.md': 'If so <reset>END</reset>.',
        'END.md': END,
      },
      ['never-returns START.md:1:7'],
      { resetStack: 'clear' },
    ],
    [
      'a callee that resets',
      { 'START.md': 'If so <call return="END">A</call>.', 'A.md': 'If so <reset>END</reset>.', 'END.md': END },
      [],
    ],
    [
      'recursion without end',
      { 'START.md': 'If so <call return="END">START</call>.', 'END.md': END },
      ['endless-recursion START.md:1:7'],
    ],
    [
      'recursion by way of another state',
      {
        'START.md': 'If so <goto>A</goto>, else <goto>END</goto>.',
        'A.md': 'If so <call return="END">B</call>.',
        'B.md': 'If so <function return="END">A</function>.',
        'END.md': END,
      },
      ['endless-recursion A.md:1:7'],
    ],
    [
      'recursion that max_visits ends',
      {
        'START.md': 'If so <goto>A</goto>, else <goto>END</goto>.',
        'A.md': '---\nmax_visits: 9\n---\nIf so <call return="END">A</call>.',
        'END.md': END,
      },
      ['never-returns A.md:4:7'],
    ],
    [
      'recursion that can end',
      { 'START.md': 'If so <call return="END">START</call>, else <result>x</result>.', 'END.md': END },
      [],
    ],
  ]));

describe('forks:', () =>
  check([
    [
      'a loop that forks',
      { 'START.md': 'If so <fork next="START">W</fork>.', 'W.md': END },
      ['fork-bomb START.md:1:7'],
    ],
    [
      'a loop that forks and has a way out',
      { 'START.md': 'If so <fork next="START">W</fork>, else <result>x</result>.', 'W.md': END },
      [],
    ],
    [
      'a loop that forks and that max_visits ends',
      { 'START.md': '---\nmax_visits: 9\n---\nIf so <fork next="START">W</fork>.', 'W.md': END },
      ['ends-only-by-limit START.md:4:7'],
    ],
    [
      'workers that fork workers',
      {
        'START.md': 'If so <fork next="END">W</fork>.',
        'W.md': 'If so <goto>V</goto>.',
        'V.md': 'If so <fork next="END">W</fork>.',
        'END.md': END,
      },
      ['fork-bomb V.md:1:7'],
    ],
    [
      'workers that fork workers, whatever their max_visits',
      { 'START.md': '---\nmax_visits: 1\n---\nIf so <fork next="END">START</fork>.', 'END.md': END },
      ['fork-bomb START.md:4:7'],
    ],
    [
      'workers that may fork workers',
      { 'START.md': 'If so <fork next="END">START</fork>, else <result>x</result>.', 'END.md': END },
      [],
    ],
  ]));

test('a cycle that only policies and scripts decide on is an error, else it is a warning', () => {
  const levels = (text: string) =>
    lintSource(sourceOf({ 'START.md': text, 'W.md': END })).map(({ rule, level }) => [rule, level]);
  const entry = policy(
    ['tag: fork, target: W, next: START, item: a', 'tag: fork, target: W, next: START, item: b'],
    '<fork next="START">W</fork>',
  );
  expect(levels(entry)).toStrictEqual([['fork-bomb', 'error']]);
  expect(levels('If so <fork next="START">W</fork>.')).toStrictEqual([['fork-bomb', 'warning']]);
});

test.each([
  [
    'forks on a condition',
    'if [ -e inbox/1 ]; then echo "<fork next=START>W</fork>"; else echo "<reset>START</reset>"; fi',
  ],
  ['waits', 'sleep 60; echo "<fork next=START>W</fork>"'],
  ['waits for its workers', 'if [ -e a ]; then echo "<fork next=START>W</fork>"; else echo "<join>START</join>"; fi'],
])('a dispatcher without end that %s may be intended', (_, script) => {
  const found = lintSource(sourceOf({ 'START.sh': bash(script), 'W.md': END }));
  expect(found.filter(({ rule }) => rule === 'fork-bomb').map(({ level }) => level)).toStrictEqual(['warning']);
});

test('a finding has a message, a hint and an example path', () => {
  const files = {
    'START.md': 'If so <call return="END">A</call>, else <goto>END</goto>.',
    'A.md': 'If so <goto>A</goto>.',
    'END.md': END,
  };
  const [finding, ...others] = lintSource(sourceOf(files));
  expect(others).toStrictEqual([]);
  expect(finding).toStrictEqual({
    rule: 'never-returns',
    level: 'warning',
    file: 'START.md',
    line: 1,
    column: 7,
    message:
      'the <call> of A.md never returns, because no path from there leads to a <result>: START.md –call→ A.md –goto→ A.md',
    hint: 'Make A.md reach a <result>, or go there with <goto> or <reset> if nobody waits for it.',
    path: [
      { from: 'START.md', to: 'A.md', tag: 'call', how: 'enter', after: null, at: { line: 1, column: 7 } },
      { from: 'A.md', to: 'A.md', tag: 'goto', how: 'step', after: null, at: { line: 1, column: 7 } },
    ],
  });
});
