import type { Tokens } from './reply.ts';

/** Dollars per million input tokens in both pinned versions, and the share of it for reading the cache. */
const PRICES: readonly (readonly [model: RegExp, input: number, cacheRead: number])[] = [
  [/opus-4/, 5, 0.1],
  [/opus-5-5/, 4, 0.05],
  [/sonnet-5-5/, 2, 0.05],
  [/sonnet/, 3, 0.1],
  // Five times that where the prompt is longer than 200,000 tokens: scripts should keep below.
  [/haiku-5-5/, 0.1, 0.1],
  [/haiku/, 1, 0.1],
];

/** The price of tokens of a model, in dollars. */
export function priceUsd(
  model: string,
  { input, output, cacheRead = 0, cacheWrite = 0, cacheWriteLong = 0 }: Tokens,
): number {
  const [, price, read] = PRICES.find(([pattern]) => pattern.test(model)) ?? [/./, 5, 0.1];
  return (price * (input + 5 * output + read * cacheRead + 1.25 * cacheWrite + 2 * cacheWriteLong)) / 1_000_000;
}
