import { expect, test } from 'vitest';
import { lint } from '../../src/analysis/lint.ts';
import type { Sheet } from '../../src/analysis/sheet.ts';
import { END, policy } from './mistakes/check.ts';
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
      'Permit it there, or take it out of the prompt.',
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
