import type { Attributes, Graph } from '@viz-js/viz';
import { clusterShapes } from './clusters.ts';
import type { Diagram } from './diagram.ts';
import { buildArrowAttributes, buildShapeAttributes, FONT_FAMILY, FONT_SCALE, GRAY } from './graphviz-attributes.ts';

/** With more arrows than this, labels would hide the picture; colors tell the tags apart then. */
const MAX_LABELLED_ARROWS = 300;

/**
 * Converts a diagram to a graph for Graphviz. All edges point down: an arrow that leads back up becomes an edge drawn in
 * reverse. So there are no cycles, layout is a hundred times faster, and the first state is at the top. Of two shapes in
 * one layer with an arrow between them, the one found first is placed above: side by side there is no room for its label.
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
    subgraphs: clusterShapes(diagram.shapes).clusters.map(({ key, name, shapes: inside }) => ({
      name: `cluster_${key}`,
      graphAttributes: { ...CLUSTER_ATTRIBUTES, id: key, label: name },
      nodes: inside.map(({ key: inner }) => ({ name: inner })),
    })),
    edges: diagram.arrows.map((arrow, index) => {
      const distanceDown = (order.get(arrow.to) ?? 0) - (order.get(arrow.from) ?? 0);
      const attributes: Attributes = { ...buildArrowAttributes(arrow, isLabelled), id: `a${index}` };
      if (distanceDown >= 0) return { tail: arrow.from, head: arrow.to, attributes };
      const { arrowhead = 'normal' } = attributes;
      return { tail: arrow.to, head: arrow.from, attributes: { ...attributes, dir: 'back', arrowtail: arrowhead } };
    }),
  };
}

/** A light frame around the states of a workflow that another calls. */
const CLUSTER_ATTRIBUTES: Attributes = {
  fontname: FONT_FAMILY,
  fontsize: 12 * FONT_SCALE,
  fontcolor: GRAY,
  color: GRAY,
  style: 'rounded',
  labeljust: 'l',
  margin: 12,
};

/** How long Graphviz may improve its layout: beyond this, a large picture takes minutes and looks the same. */
const LAYOUT_LIMITS = { nslimit: 1, mclimit: 0.3 };

/**
 * The distance of each shape from the beginning, in arrows, in the order of a breadth-first search. Shapes that cannot be
 * reached from there start again at 0, so that every shape has a layer.
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
