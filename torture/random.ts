/** A random number generator with a seed: the same seed makes the same choices. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  between(min: number, max: number): number;
  oneOf<T>(values: readonly [T, ...T[]]): T;
}

/** Creates a generator with the algorithm mulberry32, which is small, fast and good enough to choose times. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    oneOf: (values) => values[Math.floor(next() * values.length)] ?? values[0],
  };
}
