import { expect, test } from 'vitest';
import { warnedBy } from './rig.ts';

test.each(['1e10', '1e305'])(
  'a run in which a turn costs %s dollars is not lost, and says what it counts',
  async (cost) => {
    const states = { 'START.md': 'Begin.', 'NEXT.md': 'Go on.' };
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
