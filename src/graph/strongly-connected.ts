/**
 * Finds the strongly connected components of a graph (Tarjan), those that lead to others after them. It does not recurse,
 * so that no chain is too long.
 */
export function findStronglyConnected(
  nodes: readonly number[],
  next: (node: number) => readonly number[],
): readonly (readonly number[])[] {
  const within = new Set(nodes);
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const stack: number[] = [];
  const onStack = new Set<number>();
  const components: number[][] = [];
  const enter = (node: number) => {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    stack.push(node);
    onStack.add(node);
    return { node, ahead: next(node).filter((each) => within.has(each)), at: 0 };
  };
  const lower = (node: number, to: number | undefined): void => {
    low.set(node, Math.min(low.get(node) ?? 0, to ?? 0));
  };
  for (const root of nodes) {
    const path = order.has(root) ? [] : [enter(root)];
    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const { node } = frame;
      const to = frame.ahead[frame.at++];
      if (to !== undefined) {
        if (!order.has(to)) path.push(enter(to));
        else if (onStack.has(to)) lower(node, order.get(to));
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) lower(parent.node, low.get(node));
      if (low.get(node) !== order.get(node)) continue;
      const component = stack.splice(stack.lastIndexOf(node));
      for (const each of component) onStack.delete(each);
      components.push(component);
    }
  }
  return components;
}

/** True if some path among these nodes leads back to where it began. */
export function hasCycle(nodes: readonly number[], next: (node: number) => readonly number[]): boolean {
  return findStronglyConnected(nodes, next).some(
    ([first = 0, second]) => second !== undefined || next(first).includes(first),
  );
}
