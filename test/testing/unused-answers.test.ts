import { describe, expect, test } from 'vitest';
import { folderWith, resultsIn, warnedBy, wrongWith } from './rig.ts';

const STATES = {
  'START.md': 'Answer with <goto>FIX.md</goto> or <result>r</result>.',
  'FIX.md': 'Answer with <result>r</result>.',
};

describe('unused answers cause a warning', () => {
  test.each<[string, string, readonly string[]]>([
    ['every one is used', '{ START: [<goto>FIX</goto>], FIX: <result>r</result> }', []],
    [
      'a state that is never entered',
      '{ START: <result>r</result>, FIX: <result>r</result> }',
      ['a.test.yaml:1:39: the answer for FIX.md was never used'],
    ],
    [
      'visits that never happen',
      '{ START: [<result>r</result>, <goto>FIX</goto>, <goto>FIX</goto>] }',
      ['a.test.yaml:1:12: 2 of the 3 answers for START.md were never used'],
    ],
    [
      'a turn that never happens',
      '{ START: { turns: [<result>r</result>, <goto>FIX</goto>] } }',
      ['a.test.yaml:1:12: 1 of the 2 answers for START.md was never used'],
    ],
    [
      'an agent that is never there',
      '{ START: [<result>r</result>, { when: { agent_id: nobody }, text: x }] }',
      ['a.test.yaml:1:12: 1 of the 2 answers for START.md was never used'],
    ],
    ['a crash, after which the same is played again', '{ START: { text: <result>r</result>, crash: true } }', []],
  ])('%s', async (_, answers, warnings) => {
    expect(await warnedBy(STATES, `answers: ${answers}`)).toStrictEqual(warnings);
  });

  test('unless the scenario takes another path than expected', async () => {
    const scenario = 'answers: { START: [<result>r</result>, x] }\nexpect: { result: x }';
    expect(await wrongWith(STATES, scenario)).toHaveLength(1);
    const [result] = await resultsIn(folderWith({ ...STATES, 'a.test.yaml': scenario }));
    expect(result?.warnings).toStrictEqual([]);
  });

  test('only if no scenario uses them, if they are shared', async () => {
    const scenarios = `answers: { START: <goto>FIX</goto>, FIX: [<result>r</result>, never] }
scenarios:
  - { name: a }
  - { name: b, answers: { START: <result>r</result> } }
`;
    const shared = folderWith({ ...STATES, 'a.test.yaml': scenarios });
    expect((await resultsIn(shared)).map(({ warnings }) => warnings)).toStrictEqual([
      [],
      ['a.test.yaml:1:37: 1 of the 2 answers for FIX.md is used by no scenario'],
    ]);
    const alone = folderWith({ ...STATES, 'a.test.yaml': scenarios.replace(/ {2}- \{ name: b.*\n/, '') });
    expect((await resultsIn(alone)).flatMap(({ warnings }) => warnings)).toStrictEqual([
      'a.test.yaml:1:37: 1 of the 2 answers for FIX.md is used by no scenario',
    ]);
    const failing = folderWith({
      ...STATES,
      'a.test.yaml': scenarios.replace('name: a', 'name: a, expect: { cost: 1 }'),
    });
    expect((await resultsIn(failing)).flatMap(({ warnings }) => warnings)).toStrictEqual([]);
  });

  test('unless they come from another file', async () => {
    const lent = { 'lent.yaml': 'answers: { START: <result>r</result>, FIX: <result>r</result> }' };
    expect(await warnedBy({ ...STATES, ...lent }, 'answers_from: lent.yaml')).toStrictEqual([]);
  });
});
