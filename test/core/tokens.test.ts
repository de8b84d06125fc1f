import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countTokens, NO_TOKENS, splitCost, sumTokens } from '../../src/core/run/tokens.ts';
import { RunDriver } from './run-driver.ts';

const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };

describe('the cost of a turn', () => {
  test('is split among its models by their weights', () => {
    const uses = [
      { model: 'haiku', tokens, weight: 0.25 },
      { model: 'opus', tokens, weight: 0.75 },
    ];
    expect(splitCost(1001, uses)).toStrictEqual([
      { model: 'opus', tokens, micros: 751 },
      { model: 'haiku', tokens, micros: 250 },
    ]);
  });

  test('belongs to the only model, whatever its weight', () => {
    expect(splitCost(7, [{ model: 'opus', tokens, weight: 0 }])).toStrictEqual([{ model: 'opus', tokens, micros: 7 }]);
    expect(splitCost(7, [])).toStrictEqual([]);
  });

  test('is split to the last micro-dollar, into numbers that a state file takes, for any report', () => {
    const count = fc.oneof(fc.nat(), fc.double());
    const use = fc.record({
      model: fc.oneof(fc.constantFrom('a', 'b'), fc.string({ maxLength: 300 })),
      tokens: fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count }),
      weight: fc.double(),
    });
    fc.assert(
      fc.property(fc.nat(), fc.array(use, { minLength: 1, maxLength: 40 }), (micros, uses) => {
        const shares = splitCost(micros, uses);
        expect(shares.reduce((sum, share) => sum + share.micros, 0)).toBe(micros);
        expect(shares.length).toBeLessThanOrEqual(17);
        expect(new Set(shares.map(({ model }) => model)).size).toBe(shares.length);
        for (const share of shares) {
          const counts = [share.micros, ...Object.values(share.tokens)];
          expect(counts.every((each) => Number.isSafeInteger(each) && each >= 0)).toBe(true);
        }
      }),
    );
  });
});

test('tokens of several models are added up by kind', () => {
  expect(sumTokens([])).toStrictEqual(NO_TOKENS);
  expect(sumTokens([{ tokens }, { tokens }])).toStrictEqual({ input: 2, output: 4, cacheRead: 6, cacheWrite: 8 });
  expect(countTokens(tokens)).toBe(10);
});

test('a transition has the tokens of all turns in the state it left, and of no other', () => {
  const cost = { kind: 'reported', micros: 5, models: [{ model: 'opus', tokens, weight: 1 }] } as const;
  const driver = new RunDriver({ files: ['A.md', 'B.md'] });
  driver.answer({ text: 'no tag', cost }, { text: '<goto>B</goto>', cost }, { text: '<result></result>', cost });
  expect(driver.eventsOf('transition').map((event) => event.tokens)).toStrictEqual([
    { input: 2, output: 4, cacheRead: 6, cacheWrite: 8 },
    tokens,
  ]);
});
