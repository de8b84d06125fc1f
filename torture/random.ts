/** Chance that can be had again: the same seed, the same choices. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  between(min: number, max: number): number;
  oneOf<T>(things: readonly [T, ...T[]]): T;
}

/** The generator known as mulberry32: small, quick, and good enough to choose instants. */
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
    oneOf: (things) => things[Math.floor(next() * things.length)] ?? things[0],
  };
}
