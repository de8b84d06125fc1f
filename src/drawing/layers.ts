import type { Diagram } from './diagram.ts';

/**
 * How many arrows away from the beginning each shape is. What cannot be reached from there begins anew, so that every
 * shape has a layer; the order is that in which they were come upon.
 */
export function assignLayers({ shapes, arrows }: Diagram): ReadonlyMap<string, number> {
  const successors = new Map<string, string[]>(shapes.map(({ key }) => [key, []]));
  for (const { from, to } of arrows) successors.get(from)?.push(to);
  const layers = new Map<string, number>();
  const begin = shapes.filter(({ kind }) => kind === 'begin');
  const reached = new Set(arrows.map(({ to }) => to));
  const roots = [...begin, ...shapes.filter(({ key }) => !reached.has(key)), ...shapes];
  for (const { key: root } of roots) {
    if (layers.has(root)) continue;
    layers.set(root, 0);
    const queue = [root];
    for (let i = 0; i < queue.length; i++) {
      const key = queue[i] ?? '';
      for (const to of successors.get(key) ?? []) {
        if (layers.has(to)) continue;
        layers.set(to, (layers.get(key) ?? 0) + 1);
        queue.push(to);
      }
    }
  }
  return layers;
}
