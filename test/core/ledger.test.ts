import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type CostReport,
  EMPTY_LEDGER,
  enterCost,
  expectedMicros,
  type Ledger,
  microsOf,
  turnMicros,
  usdOf,
} from '../../src/core/ledger.ts';

const total = (totalMicros: number, continues: boolean): CostReport => ({ kind: 'reported', totalMicros, continues });
const guess = (micros: number): CostReport => ({ kind: 'estimated', micros });

test.each([
  ['the difference, if the total goes on from the conversation so far', total(150, true), 100, 50],
  ['the whole total, if it started from zero', total(150, false), 100, 150],
  ['the whole total of a new conversation', total(150, true), 0, 150],
  ['nothing, if a total that goes on has shrunk', total(80, true), 100, 0],
  ['nothing, if a total that goes on has not moved', total(100, true), 100, 0],
  ['nothing, if the total is below zero', total(-5, false), 0, 0],
  ['the estimate, whatever the conversation had cost', guess(70), 100, 70],
  ['nothing, if the estimate is below zero', guess(-70), 0, 0],
  ['nothing, if nobody said anything', null, 100, 0],
])('a turn costs %s', (_, report, last, micros) => {
  expect(turnMicros(report, last)).toBe(micros);
});

test('a turn never costs less than nothing', () => {
  const micros = fc.integer({ min: -1_000_000, max: 1_000_000 });
  const report = fc.oneof(
    fc.constant(null),
    micros.map(guess),
    fc.tuple(micros, fc.boolean()).map((of) => total(...of)),
  );
  fc.assert(fc.property(report, micros, (said, last) => turnMicros(said, last) >= 0));
});

test('turns of one conversation add up to its last total', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000_000)), (costs) => {
      let last = 0;
      let sum = 0;
      for (const cost of costs) {
        sum += turnMicros(total(last + cost, true), last);
        last += cost;
      }
      expect(sum).toBe(last);
    }),
  );
});

test('enters every turn under its state and in the sum', () => {
  const ledger = [
    { state: 'A.md', micros: 100, estimated: false },
    { state: 'B.md', micros: 30, estimated: true },
    { state: 'A.md', micros: 50, estimated: false },
  ].reduce<Ledger>((so, { state, micros, estimated }) => enterCost(so, state, micros, estimated), EMPTY_LEDGER);
  expect(ledger).toStrictEqual({
    spentMicros: 180,
    estimatedMicros: 30,
    turns: 3,
    states: { 'A.md': { turns: 2, micros: 150 }, 'B.md': { turns: 1, micros: 30 } },
  });
});

test('leaves the ledger it was given as it was', () => {
  const before = enterCost(EMPTY_LEDGER, 'A.md', 5, false);
  const copy = structuredClone(before);
  enterCost(before, 'A.md', 7, true);
  expect(before).toStrictEqual(copy);
});

test.each([
  ['the mean of the finished turns of the state', 'A.md', 75],
  ['the mean of all turns, for a state without any', 'NEW.md', 60],
  ['the mean of all turns, for a state named like a property of every object', 'constructor', 60],
])('expects a turn to cost %s', (_, state, micros) => {
  const ledger = enterCost(enterCost(enterCost(EMPTY_LEDGER, 'A.md', 100, false), 'A.md', 50, false), 'B.md', 30, true);
  expect(expectedMicros(ledger, state)).toBe(micros);
});

test('expects nothing before the first turn', () => {
  expect(expectedMicros(EMPTY_LEDGER, 'A.md')).toBe(0);
});

test.each([
  [0.1 + 0.2, 300_000],
  [0.0123456, 12_346],
  [10, 10_000_000],
  [0, 0],
])('takes %d dollars for %d whole micro-dollars', (usd, micros) => {
  expect(microsOf(usd)).toBe(micros);
});

test('no micro-dollar is lost on the way to dollars and back', () => {
  fc.assert(fc.property(fc.nat(2 ** 31 - 1), (micros) => microsOf(usdOf(micros)) === micros));
});
