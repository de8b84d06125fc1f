/** Remembers what a function returns for each object, as long as the object is in use. */
export const memoize = <K extends object, T>(work: (key: K) => T): ((key: K) => T) => remember(new WeakMap(), work);

/** Remembers what a function returns for each name. */
export const memoizeByName = <T>(work: (name: string) => T): ((name: string) => T) => remember(new Map(), work);

function remember<K, T>(known: Memory<K, T>, work: (key: K) => T): (key: K) => T {
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const result = work(key);
    known.set(key, result);
    return result;
  };
}

interface Memory<K, T> {
  get(key: K): T | undefined;
  set(key: K, value: T): unknown;
}
