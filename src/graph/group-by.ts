/** Groups items by key, each group in the order of the items: `Map.groupBy`, which Node 20 does not have. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** Drops items that have the same key as an earlier one. */
export const uniqueBy = <Item>(items: readonly Item[], keyOf: (item: Item) => unknown): readonly Item[] => {
  const seen = new Set<unknown>();
  return items.filter((item) => seen.size < seen.add(keyOf(item)).size);
};
