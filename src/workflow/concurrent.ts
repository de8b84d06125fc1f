/** `Promise.all` over a function, with at most `limit` of its calls under way at once. Results keep their order. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  act: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const remaining = items.entries();
  const workers = Array.from({ length: Math.min(limit, items.length) }, async () => {
    for (const [index, item] of remaining) results[index] = await act(item);
  });
  await Promise.all(workers);
  return results;
}
