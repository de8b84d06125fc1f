/** Numbers of tokens by price class. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Written to the cache for five minutes, and for an hour. */
  readonly cacheWrite: number;
  readonly cacheWriteLong: number;
}

/** No tokens at all. */
export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0 };

const combine = (a: Usage, b: Usage, by: (x: number, y: number) => number): Usage => ({
  input: by(a.input, b.input),
  output: by(a.output, b.output),
  cacheRead: by(a.cacheRead, b.cacheRead),
  cacheWrite: by(a.cacheWrite, b.cacheWrite),
  cacheWriteLong: by(a.cacheWriteLong, b.cacheWriteLong),
});

/** Adds two numbers of tokens. */
export const addUsage = (a: Usage, b: Usage): Usage => combine(a, b, (x, y) => x + y);

/** The increase of a token count. */
export const subtractUsage = (a: Usage, earlier: Usage): Usage => combine(a, earlier, (x, y) => Math.max(0, x - y));

/** The larger of each number: two events of one message count once. */
export const maxUsage = (a: Usage, b: Usage): Usage => combine(a, b, Math.max);

/** A model's prices relative to that of its input. */
const WEIGHT: Usage = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteLong: 2 };

/** Converts tokens to the number of input tokens of the same price. */
export function weighTokens(usage: Usage): number {
  const { input, output, cacheRead, cacheWrite, cacheWriteLong } = combine(
    usage,
    WEIGHT,
    (count, weight) => count * weight,
  );
  return input + output + cacheRead + cacheWrite + cacheWriteLong;
}
