import type { Attributes, Graph } from '@viz-js/viz';
import type { Diagram } from './diagram.ts';
import { buildArrowAttributes, buildShapeAttributes, FONT_FAMILY, FONT_SCALE, GRAY } from './graphviz-attributes.ts';

/** With more arrows than these, labels would hide the picture: then colours must do. */
const MAX_LABELLED_ARROWS = 300;

/**
 * A picture in the words of Graphviz. All arrows are made to point down, those that lead back up from their end to their
 * beginning: what has no rings is laid out a hundred times faster, and the beginning is at the top. Of two shapes in one
 * layer, what was come upon first is above the other, if there is an arrow between them: beside each other, they would have
 * no room for its label.
 */
export function toGraphviz(diagram: Diagram): Graph {
  const layers = assignLayers(diagram);
  const order = new Map([...layers.keys()].map((key, index) => [key, index]));
  const shapes = new Map(diagram.shapes.map((shape) => [shape.key, shape]));
  const isLabelled = diagram.arrows.length <= MAX_LABELLED_ARROWS;
  return {
    name: 'workflow',
    graphAttributes: { bgcolor: 'white', pad: 0.3, nodesep: 0.35, ranksep: 0.45, ...LAYOUT_LIMITS },
    nodeAttributes: {
      fontname: FONT_FAMILY,
      fontsize: 13 * FONT_SCALE,
      margin: '0.2,0.09',
      height: 0.42,
      penwidth: 1.2,
    },
    edgeAttributes: { fontname: FONT_FAMILY, fontsize: 10 * FONT_SCALE, arrowsize: 0.75, fontcolor: GRAY },
    nodes: [...layers.keys()].flatMap((key) => {
      const shape = shapes.get(key);
      return shape === undefined ? [] : [{ name: key, attributes: buildShapeAttributes(shape, diagram.hasRun) }];
    }),
    edges: diagram.arrows.map((arrow, index) => {
      const distanceDown = (order.get(arrow.to) ?? 0) - (order.get(arrow.from) ?? 0);
      const attributes: Attributes = { ...buildArrowAttributes(arrow, isLabelled), id: `a${index}` };
      if (distanceDown >= 0) return { tail: arrow.from, head: arrow.to, attributes };
      const { arrowhead = 'normal' } = attributes;
      return { tail: arrow.to, head: arrow.from, attributes: { ...attributes, dir: 'back', arrowtail: arrowhead } };
    }),
  };
}

/** How long Graphviz may look for something better: beyond this, a large picture takes minutes and looks the same. */
const LAYOUT_LIMITS = { nslimit: 1, mclimit: 0.3 };

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
