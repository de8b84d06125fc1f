import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  averageMicros,
  EMPTY_LEDGER,
  enterCost,
  type Ledger,
  microsToUsd,
  usdToMicros,
} from '../../src/core/ledger.ts';

test('adds every turn to its state and to the sum', () => {
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

test('does not change the given ledger', () => {
  const before = enterCost(EMPTY_LEDGER, 'A.md', 5, false);
  const copy = structuredClone(before);
  enterCost(before, 'A.md', 7, true);
  expect(before).toStrictEqual(copy);
});

test.each([
  ['the mean of its finished turns', 'A.md', 75],
  ['nothing, before the first of them', 'NEW.md', 0],
  ['nothing, even if it is named like a property of every object', 'constructor', 0],
])('a state has cost on average %s', (_, state, micros) => {
  const ledger = enterCost(enterCost(enterCost(EMPTY_LEDGER, 'A.md', 100, false), 'A.md', 50, false), 'B.md', 30, true);
  expect(averageMicros(ledger, state)).toBe(micros);
});

test.each([
  [0.1 + 0.2, 300_000],
  [0.0123456, 12_346],
  [10, 10_000_000],
  [0, 0],
])('converts %d dollars to %d whole micro-dollars', (usd, micros) => {
  expect(usdToMicros(usd)).toBe(micros);
});

test('micro-dollars survive a conversion to dollars and back', () => {
  fc.assert(fc.property(fc.nat(2 ** 31 - 1), (micros) => usdToMicros(microsToUsd(micros)) === micros));
});
