import { isPlausibleCost, usdToMicros } from '../../core/run/ledger.ts';
import type { ModelCost } from './event.ts';
import { type Usage, weighTokens } from './usage.ts';

/** Dollars per weighted token, by model, as learned from the reports of Claude Code. */
export type Prices = Readonly<Record<string, number>>;

/** Dollars per million input tokens of models without a report yet; unknown models have the highest price. */
const FAMILY_PRICES: readonly (readonly [RegExp, number])[] = [
  [/haiku/i, 1],
  [/sonnet/i, 3],
];
const HIGHEST_PRICE = 5;

/** Adds the prices of models that can be computed from a report. */
export function learnPrices(prices: Prices, models: readonly ModelCost[]): Prices {
  const learned = models
    .filter(({ usage, costUsd }) => costUsd > 0 && isPlausibleCost(usdToMicros(costUsd)) && weighTokens(usage) > 0)
    .map(({ model, usage, costUsd }) => [baseModelName(model), costUsd / weighTokens(usage)] as const);
  return learned.length === 0 ? prices : { ...prices, ...Object.fromEntries(learned) };
}

/** Estimates the cost of tokens by model. */
export const estimateCosts = (tokens: Readonly<Record<string, Usage>>, prices: Prices): readonly ModelCost[] =>
  Object.entries(tokens).map(([model, usage]) => {
    return { model, usage, costUsd: weighTokens(usage) * priceOf(model, prices) };
  });

function priceOf(model: string, prices: Prices): number {
  const name = baseModelName(model);
  const learned = Object.hasOwn(prices, name) ? prices[name] : undefined;
  if (learned !== undefined) return learned;
  const family = FAMILY_PRICES.find(([pattern]) => pattern.test(name));
  return (family?.[1] ?? HIGHEST_PRICE) / 1_000_000;
}

/** A model's name without its context window: `claude-opus-4-8[1m]`. */
export const baseModelName = (model: string): string => model.replace(/\[.*\]$/, '');
