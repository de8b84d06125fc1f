/**
 * The strongly connected components of a graph, those that lead to others after them. Without recursion, so that no
 * chain is too long.
 */
export function componentsOf(
  nodes: readonly number[],
  next: (node: number) => readonly number[],
): readonly (readonly number[])[] {
  const within = new Set(nodes);
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const open: number[] = [];
  const isOpen = new Set<number>();
  const components: number[][] = [];
  const enter = (node: number) => {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    open.push(node);
    isOpen.add(node);
    return { node, ahead: next(node).filter((each) => within.has(each)), at: 0 };
  };
  const lower = (node: number, to: number | undefined): void => {
    low.set(node, Math.min(low.get(node) ?? 0, to ?? 0));
  };
  for (const root of nodes) {
    const way = order.has(root) ? [] : [enter(root)];
    for (let place = way.at(-1); place !== undefined; place = way.at(-1)) {
      const { node } = place;
      const to = place.ahead[place.at++];
      if (to !== undefined) {
        if (!order.has(to)) way.push(enter(to));
        else if (isOpen.has(to)) lower(node, order.get(to));
        continue;
      }
      way.pop();
      const above = way.at(-1);
      if (above !== undefined) lower(above.node, low.get(node));
      if (low.get(node) !== order.get(node)) continue;
      const component = open.splice(open.lastIndexOf(node));
      for (const each of component) isOpen.delete(each);
      components.push(component);
    }
  }
  return components;
}

/** Whether some way among these nodes leads back to where it began. */
export function hasCycle(nodes: readonly number[], next: (node: number) => readonly number[]): boolean {
  return componentsOf(nodes, next).some(([first = 0, second]) => second !== undefined || next(first).includes(first));
}
