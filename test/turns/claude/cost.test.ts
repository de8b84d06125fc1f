import { describe, expect, test } from 'vitest';
import { computeTurnCost, estimateCosts, learnPrices, type Prices } from '../../../src/turns/claude/cost.ts';
import { parseClaudeLine } from '../../../src/turns/claude/event.ts';
import { addClaudeEvent, modelCosts } from '../../../src/turns/claude/transcript.ts';
import { NO_USAGE } from '../../../src/turns/claude/usage.ts';
import { after, assistant, assistantText, init, type Lines, result, usage } from './lines.ts';

const reported = (micros: number) => ({ kind: 'reported', micros }) as const;
const estimated = (micros: number) => ({ kind: 'estimated', micros }) as const;
const since = (costUSD: number) => ({ model_usage_since_last_result: { m: { costUSD } } });
const version = (claude_code_version: string) => init({ claude_code_version });
const cost = (savedUsd: number | null, prices: Prices, ...lines: Lines) => {
  const { models: _, ...amount } = computeTurnCost(after(...lines), { savedUsd, prices });
  return amount;
};

describe('a turn costs', () => {
  test.each([
    ['its total, where totals are those of the call', '2.1.197', null, reported(18_000)],
    ['its total there, even if a newer version has saved one', '2.1.275', 0.012, reported(18_000)],
    ['the difference, where totals continue from the saved one', '2.1.278', 0.012, reported(6_000)],
    ['its total there, if nothing was saved: a killed turn or fork saves nothing', '2.1.278', null, reported(18_000)],
    ['its total there, if it is less than the saved one', '2.1.278', 0.03, reported(18_000)],
    ['nothing, if the total has not moved', '2.1.278', 0.018, reported(0)],
  ])('%s', (_, claude, saved, expected) => {
    expect(cost(saved, {}, version(claude), result({ total_cost_usd: 0.018000000000000002 }))).toStrictEqual(expected);
  });

  test('the sum of its results since the last one, regardless of the saved total', () => {
    const [one, two] = [result({ total_cost_usd: 5, ...since(0.006) }), result({ total_cost_usd: 7, ...since(0.002) })];
    expect(cost(1, {}, version('2.1.325'), one, two)).toStrictEqual(reported(8_000));
    expect(
      cost(1, {}, version('2.1.325'), result({ total_cost_usd: 5, model_usage_since_last_result: {} })),
    ).toStrictEqual(reported(0));
  });

  test.each(['2.1.197', '2.1.325'])('what its process reports more than before, if that stays open: %s', (claude) => {
    const used = (inputTokens: number, costUSD: number) => ({ inputTokens, costUSD });
    const models = [{ model: 'a', costUsd: 0.01, usage: { ...NO_USAGE, input: 100 } }];
    const modelUsage = { a: used(130, 0.013), b: used(7, 0.002) };
    const transcript = after(version(claude), result({ total_cost_usd: 0.025, modelUsage }));
    expect(
      computeTurnCost(transcript, { savedUsd: null, prices: {}, before: { totalUsd: 0.02, models } }),
    ).toMatchObject({
      ...reported(5_000),
      models: [
        { model: 'a', tokens: { input: 30 } },
        { model: 'b', tokens: { input: 7 } },
      ],
    });
    const same = { totalUsd: 0.025, models };
    expect(computeTurnCost(transcript, { savedUsd: 1, prices: {}, before: same })).toMatchObject(reported(0));
  });

  test('its last total, if some results do not have more', () => {
    expect(cost(null, {}, result(since(0.006)), result({ total_cost_usd: 0.5 }))).toStrictEqual(reported(500_000));
  });

  test('its total, even if it failed', () => {
    expect(cost(null, {}, version('2.1.197'), result({ is_error: true, total_cost_usd: 0.0075 }))).toStrictEqual(
      reported(7_500),
    );
  });

  test('an estimate by learned prices, if it has no result', () => {
    const lines = [
      init(),
      assistant('m1', { type: 'tool_use', input: {} }, {}, usage(1000, 100)),
      assistantText('x', 'm2'),
    ];
    expect(cost(9, { 'claude-opus-4-8': 0.00001 }, ...lines)).toStrictEqual(estimated((1000 + 500 + 1000 + 5) * 10));
  });

  test('nothing, if nothing was reported', () => {
    expect(cost(null, {})).toStrictEqual(estimated(0));
  });
});

describe('the models of a turn are', () => {
  const used = (inputTokens: number, costUSD: number) => {
    const cache = { cacheReadInputTokens: 30, cacheCreationInputTokens: 8, cacheCreationEphemeral1hInputTokens: 3 };
    return { inputTokens, outputTokens: 2, ...cache, costUSD };
  };
  const use = (model: string, input: number, weight: number) => {
    return { model, tokens: { input, output: 2, cacheRead: 30, cacheWrite: 8 }, weight };
  };
  const modelsOf = (savedUsd: number | null, ...lines: Lines) =>
    computeTurnCost(after(...lines), { savedUsd, prices: {} }).models;
  const answer = assistant('m1', { type: 'text', text: 'x' }, {}, usage(1000, 100));

  test('those of its result, under one name for all context variants', () => {
    const modelUsage = { 'claude-opus-4-8[1m]': used(7, 0.5), 'claude-haiku-4-5': used(9, 0.1) };
    expect(modelsOf(null, version('2.1.197'), answer, result({ total_cost_usd: 0.6, modelUsage }))).toStrictEqual([
      use('claude-opus-4-8', 7, 0.5),
      use('claude-haiku-4-5', 9, 0.1),
    ]);
  });

  test('those used since the last result, of all its results together, where the others continue from earlier turns', () => {
    const one = result({
      total_cost_usd: 5,
      modelUsage: { m: used(999, 5) },
      model_usage_since_last_result: { m: used(1, 1) },
    });
    const two = result({ total_cost_usd: 7, model_usage_since_last_result: { m: used(2, 2), n: used(3, 3) } });
    expect(modelsOf(4, version('2.1.325'), answer, one, two)).toStrictEqual([
      { model: 'm', tokens: { input: 3, output: 4, cacheRead: 60, cacheWrite: 16 }, weight: 3 },
      use('n', 3, 3),
    ]);
  });

  test.each([
    ['was killed before its result', []],
    ['reports only the total of its conversation', [result({ total_cost_usd: 5, modelUsage: { m: used(999, 5) } })]],
  ])('counted from its messages, if it %s', (_, end: Lines) => {
    expect(modelsOf(4, version('2.1.278'), answer, ...end)).toMatchObject([
      { model: 'claude-opus-4-8', tokens: { input: 1000, output: 100 } },
    ]);
  });
});

const estimateUsd = (...args: Parameters<typeof estimateCosts>): number =>
  estimateCosts(...args).reduce((sum, { costUsd }) => sum + costUsd, 0);

describe('prices', () => {
  const models = (name: string, costUSD: number) =>
    modelCosts(after(result({ modelUsage: { [name]: { inputTokens: 2000, outputTokens: 200, costUSD } } })));

  test('are learned from a result, for all context variants of the model', () => {
    const prices = learnPrices({ old: 1 }, models('claude-opus-4-8[1m]', 0.015));
    expect(prices).toStrictEqual({ old: 1, 'claude-opus-4-8': expect.closeTo(0.000005, 12) });
    expect(estimateUsd({ 'claude-opus-4-8': { ...NO_USAGE, input: 1000, output: 100 } }, prices)).toBeCloseTo(
      0.0075,
      10,
    );
  });

  test('are not learned if nothing was spent', () => {
    expect(learnPrices({}, models('m', 0))).toStrictEqual({});
  });

  test.each([
    ['claude-haiku-9', 1],
    ['claude-sonnet-9', 3],
    ['claude-opus-9', 5],
    ['who-knows', 5],
  ])('are guessed by family: a million tokens of %s cost %d dollars', (model, usd) => {
    expect(estimateUsd({ [model]: { ...NO_USAGE, input: 1_000_000 } }, {})).toBe(usd);
  });

  test('depend on the kind of tokens', () => {
    const used = { input: 10, output: 10, cacheRead: 10, cacheWrite: 10, cacheWriteLong: 10 };
    expect(estimateUsd({ m: used }, { m: 1 })).toBeCloseTo(10 + 50 + 1 + 12.5 + 20, 10);
  });
});

test.each(['1e10', '1e305', '1e999', '-3'])(
  'a total of %s dollars is not believed: the tokens are counted',
  (total) => {
    const line = JSON.stringify(result({ total_cost_usd: 'TOTAL' })).replace('"TOTAL"', total);
    const transcript = addClaudeEvent(after(assistantText('an answer')), parseClaudeLine(line));
    const cost = computeTurnCost(transcript, { savedUsd: null, prices: {} });
    expect(cost).toMatchObject({ kind: 'estimated', refusedUsd: Number(total) });
    expect(cost.micros).toBeGreaterThan(0);
    expect(cost.micros).toBeLessThan(1_000_000);
  },
);

test('no price is learned from a cost that no turn can have', () => {
  const models = [{ model: 'm', costUsd: 1e305, usage: { ...NO_USAGE, output: 1000 } }];
  expect(learnPrices({ m: 0.001 }, models)).toStrictEqual({ m: 0.001 });
});
