import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import {
  averageMicros,
  EMPTY_LEDGER,
  type EnteredCost,
  enterCost,
  type Ledger,
  microsToUsd,
  usdToMicros,
} from '../../src/core/run/ledger.ts';
import { ledgerOf } from '../../src/core/run/run.ts';

const costOf = (micros: number, estimated = false, canned = false): EnteredCost => ({
  micros,
  estimated,
  canned,
  tokens: { input: micros, output: 1, cacheRead: 2, cacheWrite: 3 },
});

test('adds every turn to its state and to the sum', () => {
  const ledger = [
    { state: 'A.md', micros: 100, estimated: false },
    { state: 'B.md', micros: 30, estimated: true },
    { state: 'A.md', micros: 50, estimated: false },
  ].reduce<Ledger>((so, { state, micros, estimated }) => enterCost(so, state, costOf(micros, estimated)), EMPTY_LEDGER);
  expect(ledger).toStrictEqual({
    spentMicros: 180,
    estimatedMicros: 30,
    cannedMicros: 0,
    tokens: { input: 180, output: 3, cacheRead: 6, cacheWrite: 9 },
    turns: 3,
    states: { 'A.md': { turns: 2, micros: 150 }, 'B.md': { turns: 1, micros: 30 } },
  });
});

test('does not change the given ledger', () => {
  const before = enterCost(EMPTY_LEDGER, 'A.md', costOf(5));
  const copy = structuredClone(before);
  enterCost(before, 'A.md', costOf(7, true));
  expect(before).toStrictEqual(copy);
});

test.each([
  ['the mean of its finished turns', 'A.md', 75],
  ['nothing, before the first of them', 'NEW.md', 0],
  ['nothing, even if it is named like a property of every object', 'constructor', 0],
])('a state has cost on average %s', (_, state, micros) => {
  const ledger = [
    ['A.md', 100],
    ['A.md', 50],
    ['B.md', 30],
  ].reduce<Ledger>((so, [state, micros]) => enterCost(so, String(state), costOf(Number(micros))), EMPTY_LEDGER);
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

test("the cost of canned answers is counted, and known to be nobody's money", () => {
  const paid = enterCost(EMPTY_LEDGER, 'A.md', costOf(5));
  expect(enterCost(paid, 'A.md', costOf(7, false, true))).toMatchObject({ spentMicros: 12, cannedMicros: 7 });
});

test('the costs of an old replay, whose state file does not say that they are canned, are canned', () => {
  const ledger = { ...EMPTY_LEDGER, spentMicros: 5 };
  const cannedOf = (agent: string): number => ledgerOf({ ledger, options: { ...DEFAULT_OPTIONS, agent } }).cannedMicros;
  expect(['replay:a.yaml', 'claude'].map(cannedOf)).toStrictEqual([5, 0]);
});
