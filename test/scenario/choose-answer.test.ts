import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseAnswer } from '../../src/scenario/choose-answer.ts';
import { readScenario } from '../../src/scenario/read-scenario.ts';

const SCOPE = { files: ['START.md'], platform: 'unix' } as const;

/** What is said on a visit, turn by turn. */
function said(answers: string, visit: number, attempt: number, variables: Record<string, string> = {}): string {
  const scenario = readScenario('a.yaml', `answers:\n  START.md: ${answers}\n`, SCOPE);
  const choice = chooseAnswer(scenario, { agent: 'main', state: 'START.md', visit, attempt, variables });
  return choice.kind === 'answer' ? choice.answer.text : choice.message;
}

test.each([
  ['a', 1, 1, 'a'],
  ['a', 9, 9, 'a'],
  ['[a, b]', 2, 1, 'b'],
  ['[a, b]', 2, 7, 'b'],
  ['[{ turns: [a, b] }, c]', 1, 1, 'a'],
  ['[{ turns: [a, b] }, c]', 1, 2, 'b'],
  ['[{ turns: [a, b] }, c]', 1, 3, 'b'],
  ['{ turns: [a, b] }', 5, 2, 'b'],
  ['[a]', 2, 1, 'a.yaml:2:3: START.md has one answer, and this is visit 2 of main. Add one to the list'],
])('%s: on visit %i, turn %i, the answer is %s', (answers, visit, attempt, text) => {
  expect(said(answers, visit, attempt)).toBe(text);
});

test.each([
  [{ item: 'x' }, 1, 'x1'],
  [{ item: 'x' }, 2, 'x2'],
  [{ item: 'y', result: 'PASS' }, 3, 'passed'],
  [{ item: 'x', result: 'PASS' }, 1, 'x1'],
  [{ item: 'y' }, 1, 'first'],
  [{ item: 'y' }, 2, 'second'],
  [{}, 1, 'first'],
])('for an agent with %o, visit %i is %s: the first matching answer is used', (variables, visit, text) => {
  const answers = '[first, { when: { item: x }, visits: [x1, x2] }, { when: { result: PASS }, text: passed }, second]';
  expect(said(answers, visit, 1, variables)).toBe(text);
});

test('every turn gets the answer of its visit, for any list', () => {
  const visits = fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(visits, fc.nat(6), fc.nat(6), (list, visit, attempt) => {
      const answers = JSON.stringify(list.map((turns) => ({ turns: turns.map((each) => `t${each}`) })));
      const turns = list[visit];
      const expected = turns?.[Math.min(attempt, turns.length - 1)];
      const text = said(answers, visit + 1, attempt + 1);
      if (expected === undefined) expect(text).toContain(`visit ${visit + 1} of main`);
      else expect(text).toBe(`t${expected}`);
    }),
  );
});
