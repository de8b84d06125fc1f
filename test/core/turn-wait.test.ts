import { expect, test } from 'vitest';
import { findTurnWait, turnTrafficOf } from '../../src/core/turns/turn-wait.ts';
import { RunDriver } from './run-driver.ts';

const IDLE = { isHeld: false, running: 0, parallel: 2, hasBudget: true, runningScripts: 0, parallelScripts: 1 };

test.each([
  ['WORK.md', {}, null],
  ['WORK.md', { isHeld: true, running: 2 }, 'hold'],
  ['WORK.md', { running: 2 }, 'place'],
  ['WORK.md', { running: 1 }, 'budget'],
  ['WORK.md', { running: 9, parallel: null, hasBudget: false }, null],
  ['S.sh', { isHeld: true, running: 2 }, null],
  ['S.sh', { runningScripts: 1 }, 'scripts'],
  ['S.sh', { runningScripts: 9, parallelScripts: null }, null],
] as const)('a ready agent in %s, where %j, waits for: %s', (state, changes, wait) => {
  expect(findTurnWait(state, { ...IDLE, ...changes })).toBe(wait);
});

test('the turns under way are counted by their kind', () => {
  const options = { parallel: 3, parallelScripts: 2, budgetMicros: null };
  const driver = new RunDriver({ files: ['START.md', 'S.sh'] }, options);
  driver.answer('<fork next="START">S</fork>'.repeat(2));
  for (const agent of ['main', 'main_s1', 'main_s2']) driver.begin(agent);
  expect(turnTrafficOf(driver.run)).toStrictEqual({
    isHeld: false,
    running: 1,
    parallel: 3,
    hasBudget: false,
    runningScripts: 2,
    parallelScripts: 2,
  });
});
