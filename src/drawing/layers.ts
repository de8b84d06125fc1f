import type { Picture } from './picture.ts';

/**
 * How many arrows away from the beginning each shape is. What cannot be reached from there begins anew, so that every
 * shape has a layer; the order is that in which they were come upon.
 */
export function layersOf({ shapes, arrows }: Picture): ReadonlyMap<string, number> {
  const next = new Map<string, string[]>(shapes.map(({ key }) => [key, []]));
  for (const { from, to } of arrows) next.get(from)?.push(to);
  const layers = new Map<string, number>();
  const begin = shapes.filter(({ kind }) => kind === 'begin');
  const led = new Set(arrows.map(({ to }) => to));
  const roots = [...begin, ...shapes.filter(({ key }) => !led.has(key)), ...shapes];
  for (const { key: root } of roots) {
    if (layers.has(root)) continue;
    layers.set(root, 0);
    const queue = [root];
    for (let i = 0; i < queue.length; i++) {
      const key = queue[i] ?? '';
      for (const to of next.get(key) ?? []) {
        if (layers.has(to)) continue;
        layers.set(to, (layers.get(key) ?? 0) + 1);
        queue.push(to);
      }
    }
  }
  return layers;
}
