import { expect, test } from 'vitest';
import { warnedBy, wrongWith } from './rig.ts';

test.each(['1e10', '1e305'])(
  'a run in which a turn costs %s dollars is not lost, and says what it counts',
  async (cost) => {
    const states = { 'START.md': 'Begin.', 'NEXT.md': 'Continue.' };
    const scenario = `
options: { budget: 0 }
answers:
  START: { text: <goto>NEXT</goto>, cost: ${cost} }
  NEXT: <result>done</result>
expect: { status: completed, cost: 10000 }
`;
    expect(await warnedBy(states, scenario)).toStrictEqual([
      expect.stringMatching(/^START\.md: a cost of .* dollars was reported, which no turn can have; 10000 dollars are/),
    ]);
  },
);

const FAN = { 'START.md': 'Fork.', 'WORK.md': 'Work.', 'MORE.md': 'Work on.', 'DONE.md': 'Say so.' };

/** A scenario in which START forks workers, each of which costs as much. */
const fanOut = (workers: number, options: string, work: string, expected: string) => `
options: ${options}
answers:
  START: ${JSON.stringify('<fork next="DONE">WORK</fork>'.repeat(workers))}
  DONE: <result>all are at work</result>
  WORK: ${work}
  MORE: { text: <result>more</result>, cost: 0.1 }
expect: ${expected}
`;

test.each([
  [50, 8],
  [50, 0],
  [500, 8],
  [500, 0],
])(
  '%i workers of 0.90 dollars, %i at once, spend a budget of 1 dollar and at most one answer more',
  async (workers, parallel) => {
    const options = `{ budget: 1, parallel: ${parallel} }`;
    const work = '{ text: <result>done</result>, cost: 0.9 }';
    const differences = await wrongWith(FAN, fanOut(workers, options, work, '{ status: budget_exceeded, cost: 0 }'));
    const [spentUsd = Number.NaN] = differences.map((difference) => Number(/not ([\d.]+)$/.exec(difference)?.[1]));
    expect(differences).toHaveLength(1);
    expect(spentUsd).toBeGreaterThanOrEqual(1);
    expect(spentUsd).toBeLessThan(1.9);
  },
);

test('a worker that was stopped at its share continues until it has its answer, for what that costs', async () => {
  const work = '{ turns: [{ text: No tag yet., cost: 0.9 }, { text: <result>done</result>, cost: 0.3 }] }';
  const expected = '{ status: completed, cost: { WORK: 9.6 }, reminders: 8 }';
  expect(await wrongWith(FAN, fanOut(8, '{ budget: 10, parallel: 0 }', work, expected))).toStrictEqual([]);
  const tight = '{ budget: 9.7, parallel: 0 }';
  expect(
    await wrongWith(
      FAN,
      fanOut(8, tight, '{ text: <result>done</result>, cost: 1.2 }', expected.replace(', reminders: 8', '')),
    ),
  ).toStrictEqual([]);
});

test('of 100 items of two states with money for 31 about 31 are finished', async () => {
  const work = '{ text: <goto>MORE</goto>, cost: 0.1 }';
  const expected = '{ status: budget_exceeded, turns: { MORE: 31 } }';
  expect(await wrongWith(FAN, fanOut(100, '{ budget: 6.2 }', work, expected))).toStrictEqual([]);
});
