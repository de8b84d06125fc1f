/** Maps items like `Promise.all`, with at most `limit` calls under way at once. Results keep the order of the items. */
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
