import { expect, test } from 'vitest';
import type { Options } from '../../src/core/options/options.ts';
import type { Answered } from '../../src/core/signals/signal.ts';
import { freshTurnAfter } from '../../src/core/turns/next-turns.ts';
import { RunDriver, scopeOfWorkflow } from './run-driver.ts';

const WORKFLOW = { files: ['START.md', 'NEXT.md', 'WORK.md', 'GATE.sh'] };

/** The turn that opens a conversation after this answer of START: agent, state, and its share of the budget. */
function after(text: string, options: Partial<Options> = {}): readonly unknown[] | undefined {
  const driver = new RunDriver(WORKFLOW, options);
  driver.begin('main');
  const before = driver.run;
  const answered: Answered = {
    kind: 'answered',
    at: 2000,
    agent: 'main',
    text,
    cost: null,
    denials: [],
    folders: {},
    scope: scopeOfWorkflow(WORKFLOW),
  };
  const next = freshTurnAfter(before, answered);
  expect(driver.run).toBe(before);
  return next && [next.agent, next.state, next.budgetMicros];
}

test.each([
  ['<reset>NEXT</reset>', ['main', 'NEXT.md', null]],
  ['<function return="NEXT">WORK</function>', ['main', 'WORK.md', null]],
  ['<fork next="NEXT">WORK</fork>', ['main_work1', 'WORK.md', null]],
  ['<goto>NEXT</goto>', undefined],
  ['<call return="NEXT">WORK</call>', undefined],
  ['<reset>GATE</reset>', undefined],
  ['<result>over</result>', undefined],
  ['no tag at all', undefined],
])('after %s', (text, expected) => {
  expect(after(text, { budgetMicros: null })).toStrictEqual(expected);
});

test('the share is what the turn would get if the running one had cost nothing', () => {
  expect(after('<reset>NEXT</reset>', { budgetMicros: 900 })).toStrictEqual(['main', 'NEXT.md', 900]);
  expect(after('<fork next="NEXT">WORK</fork>', { budgetMicros: 900 })).toStrictEqual(['main_work1', 'WORK.md', 450]);
});
