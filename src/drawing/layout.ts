import type { Attributes, Graph } from '@viz-js/viz';
import { dressArrow, dressShape, FONT, ROOM } from './dress.ts';
import { layersOf } from './layers.ts';
import { FAINT } from './looks.ts';
import type { Picture } from './picture.ts';

/** With more arrows than these, labels would hide the picture: then colours must do. */
const MOST_LABELS = 300;

/**
 * A picture in the words of Graphviz. All arrows are made to point down, those that lead back up from their end to their
 * beginning: what has no rings is laid out a hundred times faster, and the beginning is at the top. Of two shapes in one
 * layer, what was come upon first is above the other, if there is an arrow between them: beside each other, they would have
 * no room for its label.
 */
export function toGraphviz(picture: Picture): Graph {
  const layers = layersOf(picture);
  const order = new Map([...layers.keys()].map((key, index) => [key, index]));
  const shapes = new Map(picture.shapes.map((shape) => [shape.key, shape]));
  const labelled = picture.arrows.length <= MOST_LABELS;
  return {
    name: 'workflow',
    graphAttributes: { bgcolor: 'white', pad: 0.3, nodesep: 0.35, ranksep: 0.45, ...HASTE },
    nodeAttributes: { fontname: FONT, fontsize: 13 * ROOM, margin: '0.2,0.09', height: 0.42, penwidth: 1.2 },
    edgeAttributes: { fontname: FONT, fontsize: 10 * ROOM, arrowsize: 0.75, fontcolor: FAINT },
    nodes: [...layers.keys()].flatMap((key) => {
      const shape = shapes.get(key);
      return shape === undefined ? [] : [{ name: key, attributes: dressShape(shape, picture.travelled) }];
    }),
    edges: picture.arrows.map((arrow, index) => {
      const down = (order.get(arrow.to) ?? 0) - (order.get(arrow.from) ?? 0);
      const attributes: Attributes = { ...dressArrow(arrow, labelled), id: `a${index}` };
      if (down >= 0) return { tail: arrow.from, head: arrow.to, attributes };
      const { arrowhead = 'normal' } = attributes;
      return { tail: arrow.to, head: arrow.from, attributes: { ...attributes, dir: 'back', arrowtail: arrowhead } };
    }),
  };
}

/** How long Graphviz may look for something better: beyond this, a large picture takes minutes and looks the same. */
const HASTE = { nslimit: 1, mclimit: 0.3 };
