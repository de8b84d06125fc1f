import { describe, expect, test } from 'vitest';
import { interpretAnswer } from '../../src/core/answers/answer.ts';
import { answerProblem } from '../../src/language/problem.ts';
import { formatPolicyTag, formatReminder } from '../../src/language/reminder.ts';
import { contextOf, entryOf, payloadEntry, SCOPE, scopeOf } from '../core/builders.ts';

const NO_TAG = answerProblem('no_tag', 'it contains no tag');
const OPENING =
  'The next step cannot be found in your last answer: it contains no tag. Your work is kept; do not do it again.';

describe('a reminder', () => {
  test('without a policy lists every tag and every state', () => {
    expect(formatReminder(NO_TAG, [], SCOPE)).toBe(
      `${OPENING}

Answer with exactly one of these tags (a <fork> may be repeated, one for each worker):

    <goto>STATE</goto>
    <reset>STATE</reset>
    <compact>STATE</compact>
    <call return="STATE">STATE</call>
    <function return="STATE">STATE</function>
    <fork next="STATE">STATE</fork>
    <fork-each next="STATE" in="FILE">STATE</fork-each>
    <join>STATE</join>
    <result>your result</result>

STATE is one of: A.md, B.md, N.md, R.md, RUN.sh, W.md`,
    );
  });

  test('lists only what the policy permits', () => {
    expect(formatReminder(NO_TAG, [entryOf('goto', 'A.md'), entryOf('result')], SCOPE)).toBe(
      `${OPENING}

Answer with exactly one of these tags:

    <goto>A.md</goto>
    <result>your result</result>`,
    );
  });

  test('asks for the tag if there is only one', () => {
    expect(formatReminder(NO_TAG, [entryOf('result'), entryOf('result')], SCOPE)).toBe(
      `${OPENING}\n\nAnswer with this tag:\n\n    <result>your result</result>`,
    );
  });

  test('mentions that a fork may be repeated, if one is permitted', () => {
    expect(formatReminder(NO_TAG, [entryOf('fork', 'W', { next: 'N' })], SCOPE)).toContain(
      'Answer with this tag (a <fork> may be repeated, one for each worker):\n\n    <fork next="N">W</fork>',
    );
  });

  test('lists the states only if a state is left open', () => {
    expect(formatReminder(NO_TAG, [entryOf('call', 'A.md')], SCOPE)).toContain('\n\nSTATE is one of: A.md, B.md,');
    expect(formatReminder(NO_TAG, [entryOf('call', 'A.md', { return: 'R.md' })], SCOPE)).not.toContain('STATE');
  });

  test('does not treat a state as open because of its name', () => {
    const scope = scopeOf(['SAVE_STATE.md', 'STATE.md', 'OTHER.md']);
    expect(formatReminder(NO_TAG, [entryOf('goto', 'SAVE_STATE.md'), entryOf('goto', 'STATE.md')], scope)).toBe(
      `${OPENING}

Answer with exactly one of these tags:

    <goto>SAVE_STATE.md</goto>
    <goto>STATE.md</goto>`,
    );
  });

  test.each([
    ['unix', 'A.md, A.sh'],
    ['windows', 'A.md, A.bat, A.ps1'],
  ] as const)('offers only states that can run here, on %s', (platform, states) => {
    const scope = scopeOf(['A.md', 'A.sh', 'A.bat', 'A.ps1', 'notes.txt'], platform);
    expect(formatReminder(NO_TAG, [], scope).split('\n').at(-1)).toBe(`STATE is one of: ${states}`);
  });

  test.each([
    ['<goto>A</goto>\n<result>x</result>', 'found 2 tags: `<goto>A</goto>` (line 1) and `<result>` (line 2).'],
    ['<goto>A', 'the `<goto>` on line 1 has no `</goto>`.'],
    ['<goto>REVEW</goto>', '`<goto>REVEW</goto>` (line 1): there is no state `REVEW` in this workflow.'],
    ['<reset>A</reset>', '`<reset>A</reset>` (line 1) is not permitted here.'],
  ])('describes the problem of %j', (text, said) => {
    const policy = [entryOf('goto', 'A.md')];
    const decision = interpretAnswer(text, contextOf({ policy }));
    const wrong = decision.kind === 'wrong' ? decision.problem : NO_TAG;
    expect(formatReminder(wrong, policy, SCOPE)).toBe(
      `The next step cannot be found in your last answer: ${said} Your work is kept; do not do it again.

Answer with this tag:

    <goto>A.md</goto>`,
    );
  });

  test('about refused tools asks whether the task is done', () => {
    const denied = answerProblem('tools_denied', 'the use of Bash was not permitted');
    expect(formatReminder(denied, [entryOf('goto', 'A.md')], SCOPE)).toBe(
      `In your last turn, the use of Bash was not permitted. Is the task of this step done anyway? If it is, say so with the tag below. If it is not, do it another way first.

Answer with this tag:

    <goto>A.md</goto>`,
    );
  });

  test('stays short for a long answer', () => {
    const story = 'and then / '.repeat(20_000);
    const texts = [`<goto>${story}</goto>`, `<call return="${story}">A</call>`, `<reset cd="${story}">A</reset>`];
    for (const text of [
      ...texts,
      `<reset stack="${story}">A</reset>`,
      `<fork next="${story}">W</fork><goto>A</goto>`,
    ]) {
      const decision = interpretAnswer(text, contextOf());
      expect(decision.kind === 'wrong' && formatReminder(decision.problem, [], SCOPE).length).toBeLessThan(1000);
    }
  });
});

test.each([
  [entryOf('goto', 'A.md'), '<goto>A.md</goto>'],
  [entryOf('goto'), '<goto>STATE</goto>'],
  [entryOf('reset', 'A', { cd: 'sub', stack: 'clear' }), '<reset cd="sub" stack="clear">A</reset>'],
  [entryOf('call', 'A'), '<call return="STATE">A</call>'],
  [entryOf('call', 'A', { model: 'opus', return: 'R' }), '<call return="R" model="opus">A</call>'],
  [entryOf('function', null, { return: 'R' }), '<function return="R">STATE</function>'],
  [entryOf('fork', 'W', { item: 'say "x"' }), `<fork next="STATE" item='say "x"'>W</fork>`],
  [entryOf('goto', 'A', { input: '{{input}}' }), '<goto>A</goto>'],
  [entryOf('result'), '<result>your result</result>'],
  [payloadEntry('YES'), '<result>YES</result>'],
])('shows %j as the tag to write', (entry, tag) => {
  expect(formatPolicyTag(entry)).toBe(tag);
});

test('the tag shown for a complete entry is permitted by it', () => {
  const entries = [
    entryOf('goto', 'A'),
    entryOf('reset', 'A', { cd: 'sub', stack: 'keep', input: 'a > b' }),
    entryOf('call', 'A', { return: 'R', model: 'Opus', effort: 'LOW' }),
    entryOf('function', 'RUN', { return: 'R' }),
    entryOf('fork', 'W', { next: 'N', item: 'say "x"', other: "it's" }),
    entryOf('result'),
    payloadEntry('YES'),
  ];
  for (const entry of entries) {
    expect(interpretAnswer(formatPolicyTag(entry), contextOf({ policy: [entry], implicit: 'never' })).kind).toBe('go');
  }
});
