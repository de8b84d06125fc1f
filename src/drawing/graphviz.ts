import type { Attributes, Graph } from '@viz-js/viz';
import { clusterShapes } from './clusters.ts';
import {
  type Arrow,
  type ArrowKind,
  type Diagram,
  type DiagramMarker,
  type DiagramShape,
  isStateShape,
  type StateShape,
} from './diagram.ts';
import {
  escapeMarkup,
  formatAgentLines,
  formatArrowLabel,
  isUnvisited,
  listShapeNotes,
  MAX_SHAPE_NOTE_LENGTH,
  shortenLabel,
  splitByFailure,
} from './labels.ts';

/** The factor by which text is enlarged for Graphviz: it only knows the widths of one font, and others are wider. */
export const FONT_SCALE = 1.1;
/** The fonts of the picture. */
const FONT_FAMILY = 'Helvetica,Arial,sans-serif';
const MONO_FONT_FAMILY = 'Courier New,DejaVu Sans Mono,monospace';

const MAX_NAME_LENGTH = 40;

/** The attributes of a shape. Its classes are for pages with a style sheet, the rest for pictures without. */
function buildShapeAttributes(shape: DiagramShape, hasRun: boolean): Attributes {
  const baseStyle = SHAPE_STYLES[shape.kind];
  if (!isStateShape(shape)) {
    return {
      ...baseStyle,
      ...(!shape.passed && { color: LIGHT_GRAY, ...(shape.kind !== 'caller' && { fillcolor: LIGHT_GRAY }) }),
      label: MARKER_LABELS[shape.kind],
      fontsize: 11 * FONT_SCALE,
      id: shape.key,
      class: shape.passed ? shape.kind : `${shape.kind} untaken`,
    };
  }
  const { here, failed } = splitByFailure(shape.agents);
  const unvisited = isUnvisited(shape, hasRun);
  const classes = [
    [shape.kind, true],
    ['state', true],
    ['open', shape.open],
    ['untaken', unvisited],
    ['here', here.length > 0],
    ['failed', here.length === 0 && failed.length > 0],
  ] as const;
  return {
    ...baseStyle,
    ...(shape.open && { style: `${baseStyle.style},dashed` }),
    ...(shape.kind === 'script' && { fontname: MONO_FONT_FAMILY }),
    ...(unvisited && { fillcolor: 'white', color: LIGHT_GRAY, fontcolor: GRAY }),
    ...(shape.agents.length > 0 && { color: here.length > 0 ? GREEN : RED, penwidth: 3 }),
    label: { html: formatLabelLines(shape).join('<BR/>') },
    id: shape.key,
    class: classes.flatMap(([name, holds]) => (holds ? [name] : [])).join(' '),
  };
}

const MARKER_LABELS: Readonly<Record<DiagramMarker['kind'], string>> = {
  begin: '',
  end: '',
  caller: '',
  any: 'any state',
  targetless: 'no target',
};

/** The name of a state, and its notes and agents below it in small letters. */
function formatLabelLines(shape: StateShape): readonly string[] {
  const { state, kind, agents } = shape;
  const isWrong = kind === 'missing' || kind === 'ambiguous';
  return [
    `<B>${escapeHtmlLabel(shortenLabel(state, MAX_NAME_LENGTH) || '\ufffd')}</B>`,
    ...listShapeNotes(shape).map((note) => formatSmallLine(note, isWrong ? RED : GRAY)),
    ...formatAgentLines(agents).map((line) => formatSmallLine(line, line.startsWith('▶') ? GREEN : RED)),
  ];
}

const formatSmallLine = (text: string, color: string): string =>
  `<FONT FACE="${FONT_FAMILY}" POINT-SIZE="${10 * FONT_SCALE}" COLOR="${color}">${escapeHtmlLabel(shortenLabel(text, MAX_SHAPE_NOTE_LENGTH))}</FONT>`;

/** The attributes of an arrow: the more often it was taken, the thicker; gray if it never was. */
function buildArrowAttributes(arrow: Arrow, labelled: boolean): Attributes {
  const { kind, times, unforeseen, computed } = arrow;
  const baseStyle = ARROW_STYLES[kind];
  const label = labelled ? formatArrowLabel(arrow) : '';
  const width = Number(baseStyle.penwidth ?? 1);
  return {
    ...baseStyle,
    ...(unforeseen && { style: 'dashed' }),
    ...(computed && { style: 'dotted' }),
    ...(times === 0 && { color: LIGHT_GRAY, fontcolor: '#9aa5b1', penwidth: 1 }),
    ...(times !== null && times > 0 && { penwidth: width + 0.4 + Math.min(3, Math.log2(times)) }),
    ...(label !== '' && { label: ` ${escapePlainLabel(shortenLabel(label, MAX_NAME_LENGTH))} ` }),
    class: [kind, ...(unforeseen ? ['unforeseen'] : []), ...(times === 0 ? ['untaken'] : [])].join(' '),
  };
}

/** Graphviz reads backslashes in labels, and entities even in those without markup. */
const escapePlainLabel = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('&', '&amp;');
const escapeHtmlLabel = (text: string): string => escapeMarkup(text).replaceAll('\\', '\\\\');

/** Attributes of Graphviz that say how a shape or an arrow looks. */
type GraphvizStyle = Readonly<Record<string, string | number>>;

const DARK = '#1f2933';
const RED = '#c5221f';
const GREEN = '#1e8e3e';
/** The color of what matters less. */
const GRAY = '#5f6b7a';
const LIGHT_GRAY = '#c4cad3';

const FILLED_DOT = { style: 'filled', fixedsize: 'true' };

const SHAPE_STYLES: Readonly<Record<DiagramShape['kind'], GraphvizStyle>> = {
  prompt: { shape: 'box', style: 'rounded,filled', fillcolor: '#eef4ff', color: '#3b6fd4' },
  script: { shape: 'box', style: 'filled', fillcolor: '#f3f0e6', color: '#8a7433' },
  missing: { shape: 'box', style: 'dashed,filled', fillcolor: '#fdeceb', color: RED, fontcolor: RED },
  ambiguous: { shape: 'box', style: 'dashed,filled', fillcolor: '#fdeceb', color: RED, fontcolor: RED },
  gone: { shape: 'box', style: 'dashed,filled', fillcolor: '#f2f3f5', color: GRAY, fontcolor: GRAY },
  begin: { ...FILLED_DOT, shape: 'circle', fillcolor: DARK, color: DARK, width: 0.16, height: 0.16 },
  end: { ...FILLED_DOT, shape: 'doublecircle', fillcolor: DARK, color: DARK, width: 0.11, height: 0.11 },
  caller: { ...FILLED_DOT, shape: 'circle', fillcolor: 'white', color: '#2e7d43', width: 0.18, height: 0.18 },
  any: { shape: 'box', style: 'rounded,dashed,filled', fillcolor: 'white', color: GRAY, fontcolor: GRAY },
  targetless: { shape: 'box', style: 'dashed,filled', fillcolor: '#fdeceb', color: RED, fontcolor: RED },
};

const ARROW_STYLES: Readonly<Record<ArrowKind, GraphvizStyle>> = {
  begin: { color: DARK },
  goto: { color: '#44546a' },
  reset: { color: '#7b3fb5', arrowhead: 'onormal' },
  compact: { color: '#2a7f86', arrowhead: 'onormal' },
  call: { color: '#1a73a8' },
  function: { color: '#1a73a8', arrowhead: 'onormal' },
  return: { color: '#1a73a8', style: 'dashed' },
  fork: { color: '#c2590c', penwidth: 2 },
  next: { color: '#c2590c', style: 'dashed' },
  join: { color: '#c2590c', arrowhead: 'onormal' },
  ask: { color: '#a8326e' },
  result: { color: '#2e7d43' },
  back: { color: '#2e7d43', style: 'dashed' },
  guard: { color: RED, style: 'dashed', arrowhead: 'onormal' },
  evaluator: { color: GRAY, style: 'dashed' },
  mentioned: { color: GRAY, style: 'dotted' },
};

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
