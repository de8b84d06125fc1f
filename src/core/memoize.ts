/** Remembers what a function returns for each object, as long as the object is in use. */
export function memoize<K extends object, T>(work: (key: K) => T): (key: K) => T {
  const known = new WeakMap<K, T>();
  return (key) => {
    const result = known.get(key) ?? work(key);
    known.set(key, result);
    return result;
  };
}
