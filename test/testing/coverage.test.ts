import { expect, test } from 'vitest';
import { allCoverageItems, type CoverageItem, coveredPercent } from '../../src/testing/coverage.ts';
import { coverageIn, folderWith } from './rig.ts';

const shown = (items: readonly CoverageItem[]): readonly string[] =>
  items.map(({ file, line, label, times }) => `${file}${line === 0 ? '' : `:${line} ${label}`} ${times}`);

const STATES = {
  'START.md': `---
allowed_transitions:
  - { tag: call, target: SUB, return: NEXT }
  - { tag: call, target: SUB, return: OTHER }
  - { tag: reset, target: NEXT, input: again }
---
Go.`,
  'SUB.md': '---\nallowed_transitions: [{ tag: result }]\n---\nAnswer.',
  'NEXT.md':
    '---\nallowed_transitions:\n  - { tag: fork, target: W, next: OTHER }\n  - { tag: goto }\n---\nFork, or continue.',
  'OTHER.md': 'Say <goto>NEXT</goto>, or <goto>NEXT.md</goto>, or <result>r</result>.',
  'W.md': 'Work, and say <result>w</result>.',
  'LOST.md': 'Say <result>never</result>.',
};

test('counts what the scenarios took, including the return of a call and the entry of a policy', async () => {
  const scenarios = `
answers:
  SUB.md: <result>s</result>
  W.md: <result>w</result>
scenarios:
  - name: forks, and comes back
    answers:
      START.md: <call return="NEXT.md">SUB.md</call>
      NEXT.md: ['<fork next="OTHER">W</fork><fork next="OTHER">W</fork>', <goto>OTHER</goto>]
      OTHER.md: [<goto>NEXT</goto>, <result>r</result>]
  - name: a reset
    answers:
      START.md: <reset input="again">NEXT</reset>
      NEXT.md: <goto>OTHER</goto>
      OTHER.md: <result>r</result>
`;
  const coverage = await coverageIn(folderWith({ ...STATES, 'a.test.yaml': scenarios }));
  expect(shown(coverage.states)).toStrictEqual([
    'LOST.md 0',
    'NEXT.md 3',
    'OTHER.md 3',
    'START.md 2',
    'SUB.md 1',
    'W.md 2',
  ]);
  expect(shown(coverage.transitions)).toStrictEqual([
    'LOST.md:1 result 0',
    'NEXT.md:3 fork W.md next OTHER.md 2',
    'NEXT.md:4 goto any state 2',
    'OTHER.md:1 goto NEXT.md 1',
    'OTHER.md:1 result 2',
    'START.md:3 call SUB.md return NEXT.md 1',
    'START.md:4 call SUB.md return OTHER.md 0',
    'START.md:5 reset NEXT.md 1',
    'SUB.md:2 result 1',
    'W.md:1 result 2',
  ]);
  expect(shown(coverage.entries)).toStrictEqual([
    'NEXT.md:3 fork W next OTHER 2',
    'NEXT.md:4 goto 2',
    'START.md:3 call SUB return NEXT 1',
    'START.md:4 call SUB return OTHER 0',
    'START.md:5 reset NEXT input again 1',
    'SUB.md:2 result 1',
  ]);
  expect(coveredPercent(allCoverageItems([coverage]))).toBeCloseTo((100 * (5 + 8 + 5)) / (6 + 10 + 6));
  expect(coverage.traffic.transitionCounts).toContainEqual({
    from: 'START.md',
    kind: 'return',
    to: 'NEXT.md',
    times: 1,
  });
  expect(coverage.traffic.states.map(({ state, visits }) => [state, visits])).toContainEqual(['W.md', 2]);
});

test('counts results with different texts separately if the policy tells them apart', async () => {
  const states = {
    'START.md':
      '---\nallowed_transitions:\n  - { tag: result, payload: "YES" }\n  - { tag: result, payload: "NO" }\n---\nWell?',
  };
  const { entries, transitions } = await coverageIn(
    folderWith({ ...states, 'a.test.yaml': 'answers: { START: <result> YES </result> }' }),
  );
  const expected = ['START.md:3 result YES 1', 'START.md:4 result NO 0'];
  expect(shown(entries)).toStrictEqual(expected);
  expect(shown(transitions)).toStrictEqual(expected);
});

test('an implicit transition takes the only entry', async () => {
  const states = { 'START.md': '---\nallowed_transitions: [{ tag: goto, target: END }]\n---\nGo.', 'END.md': 'End.' };
  const scenario = 'answers: { START: Done., END: <result>e</result> }';
  const { entries, transitions } = await coverageIn(folderWith({ ...states, 'a.test.yaml': scenario }));
  expect(shown(entries)).toStrictEqual(['START.md:2 goto END 1']);
  expect(shown(transitions)).toStrictEqual(['START.md:2 goto END.md 1']);
});

test('a rejected answer takes nothing, and a turn repeated after a crash is counted once', async () => {
  const scenario = `
answers:
  START:
    turns: [<goto>OTHER</goto>, { text: <result>r</result>, crash: true }]`;
  const states = {
    'START.md': '---\nallowed_transitions: [{ tag: goto, target: START }, { tag: result }]\n---\nGo.',
    'OTHER.md': 'x',
  };
  const { entries } = await coverageIn(folderWith({ ...states, 'a.test.yaml': scenario }));
  expect(shown(entries)).toStrictEqual(['START.md:2 goto START 0', 'START.md:2 result 1']);
});

test('only reachable states count in a folder with several workflows', async () => {
  const scenario = 'workflow: SUB.md\nanswers: { SUB: <result>s</result> }';
  const { states } = await coverageIn(folderWith({ ...STATES, 'a.test.yaml': scenario }));
  expect(shown(states)).toStrictEqual(['SUB.md 1']);
});

test('an empty workflow is covered', () => {
  expect(coveredPercent([])).toBe(100);
});
