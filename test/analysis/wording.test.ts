import { describe, expect, test } from 'vitest';
import { lint } from '../../src/analysis/lint.ts';
import type { Sheet } from '../../src/analysis/sheet.ts';
import { bash, END, policy } from './mistakes/check.ts';
import { type Files, sheetOf } from './sheet-of.ts';

/** The findings of one rule in words. */
const say = (rule: string, files: Files, changes: Partial<Sheet> = {}) =>
  lint(sheetOf(files, changes)).flatMap((found) => (found.rule === rule ? [[found.message, found.hint]] : []));

test('a forbidden tag is shown with its attributes, and beside it the entry that it resembles', () => {
  const files = {
    'START.md': policy(
      ['tag: call, target: W.md, return: START.md', 'tag: result'],
      'When ready <call return="FIN.md">W.md</call>, else <result>x</result>.',
    ),
    'W.md': END,
    'FIN.md': END,
  };
  expect(say('forbidden-tag', files)).toStrictEqual([
    [
      'the prompt asks for `<call return="FIN.md">W.md</call>`, which its `allowed_transitions` do not permit; ' +
        'they permit `<call return="START.md">W.md</call>`',
      'Add it to the `allowed_transitions`, or take it out of the prompt.',
    ],
  ]);
});

test('a forbidden tag that resembles nothing is shown alone', () => {
  const files = {
    'START.md': policy(['tag: goto, target: END.md', 'tag: reset, target: END.md'], 'When done <result>x</result>.'),
    'END.md': END,
  };
  expect(say('forbidden-tag', files).map(([message]) => message)).toStrictEqual([
    'the prompt asks for `<result>`, which its `allowed_transitions` do not permit',
  ]);
});

test.each([
  ['keep', ' stack="clear"', 'Remove stack="clear" from the <reset> of EVAL.md, so that its callers get their result.'],
  ['clear', '', 'Write stack="keep" on the <reset> of EVAL.md: without it, the return stack is cleared here.'],
] as const)(
  'a call that never returns is told what clears the stack, where a reset would %s it',
  (resetStack, given, hint) => {
    const files = {
      'START.md': 'Then answer <call return="END.md">EVAL.md</call>.',
      'EVAL.md': `When done <reset${given}>END.md</reset>.`,
      'END.md': END,
    };
    expect(say('never-returns', files, { resetStack }).map(([, said]) => said)).toStrictEqual([hint]);
  },
);

test.each([
  ['Schreibe den Plan in PLAN.txt an das Ende. <goto>END.md</goto>', 0],
  ['Lies to_do.md in a/b und is.txt <goto>END.md</goto>', 0],
  ['Escribe el plan a mano en la hoja <goto>END.md</goto>', 0],
  ['Write the plan into PLAN.txt. <goto>END.md</goto>', 1],
])('only English prompts are asked for a stopping point: %s', (text, count) => {
  expect(say('no-stopping-point', { 'START.md': text, 'END.md': END })).toHaveLength(count);
});

test.each([
  ['When done answer <result>x', 1],
  ['When done answer with a <result> tag', 0],
  ['When done answer with `<result>`', 0],
  ['Not <result>x but this: <result>y</result>', 0],
])('a result that nothing closes is told if it is all there is: %s', (text, count) => {
  expect(say('unclosed-tag', { 'START.md': text })).toHaveLength(count);
});

describe('a variable that is not set', () => {
  const WORKER = 'Do {{item}}. When done <result>x</result>.';

  test('in the state in which the parent goes on is told to be the worker’s alone', () => {
    const files = {
      'START.md': 'Then <fork next="P.md" item="a">W.md</fork>.',
      'W.md': WORKER,
      'P.md': 'See {{item}}. When done <result>x</result>.',
    };
    expect(say('undefined-variable', files)).toStrictEqual([
      [
        '{{item}} is not set on this way to P.md: START.md –fork W.md, next→ P.md',
        'What a <fork> sets belongs to its worker (W.md), not to the parent, which goes on here: ' +
          'take {{item}} out of P.md, or let START.md write it into a file that P.md reads.',
      ],
    ]);
  });

  test('in a state that worker and parent share is told to be the worker’s alone', () => {
    const files = {
      'START.md': 'Then <fork next="P.md" item="a">W.md</fork>.',
      'P.md': 'Then <goto>W.md</goto>.',
      'W.md': WORKER,
    };
    expect(say('undefined-variable', files)).toStrictEqual([
      [
        '{{item}} is not set on this way to W.md: START.md –fork W.md, next→ P.md –goto→ W.md',
        'What a <fork> sets belongs to its worker (W.md), not to the parent, which goes on here: ' +
          'let the parent go on in another state than W.md.',
      ],
    ]);
  });

  test('for one of two workers is asked of the fork that forgets it', () => {
    const files = {
      'START.sh': bash('echo \'<fork next="END" item="a">W</fork>\'', 'echo \'<fork next="END">W</fork>\''),
      'W.md': WORKER,
      'END.md': END,
    };
    expect(say('undefined-variable', files)).toStrictEqual([
      [
        '{{item}} is not set on this way to W.md: START.sh –fork→ W.md',
        'Add item="…" to the <fork> of W.md in START.sh, line 3: a worker has only what its own <fork> sets.',
      ],
    ]);
  });

  test('for an agent that no fork has made is left to the run', () => {
    const files = {
      'START.md': 'Then <fork next="END.md" item="a">W.md</fork>, or <goto>W.md</goto>.',
      'W.md': WORKER,
      'END.md': END,
    };
    expect(say('undefined-variable', files)).toStrictEqual([
      [
        '{{item}} is not set on this way to W.md: START.md –goto→ W.md',
        'Only the worker of a <fork> with item="…" has it: let the others go to another state, ' +
          'or start the run with --var item=….',
      ],
    ]);
  });

  test('in the first state is told without a way', () => {
    const files = { 'START.md': 'Take {{item}}. Then <fork next="END.md" item="a">END.md</fork>.', 'END.md': END };
    expect(say('undefined-variable', files).map(([message]) => message)).toStrictEqual([
      '{{item}} is not set in START.md, where the run begins',
    ]);
  });

  test('in a state that a script chooses is told if no fork gives it', () => {
    const files = {
      'START.sh': bash('echo "<goto>$(cat next)</goto>"'),
      'A.md': WORKER,
    };
    expect(say('undefined-variable', files).map(([message]) => message)).toStrictEqual([
      'nothing sets {{item}}: no <fork> of this workflow gives it',
    ]);
  });
});

test('a state that only a code block names is said to be so', () => {
  const files = {
    'START.md': 'Never this:\n```\n<goto>A.md</goto>\n```\nWhen done <result>x</result>.',
    'A.md': END,
  };
  expect(say('unreachable-state', files)).toStrictEqual([
    [
      'nothing leads to A.md from START.md; the code block in START.md that names it is taken for an example',
      'If START.md is to lead there, write the tag outside of the code block; if not, remove the file.',
    ],
  ]);
});
