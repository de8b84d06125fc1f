import type { Attributes } from '@viz-js/viz';
import {
  type Arrow,
  type ArrowKind,
  type DiagramMarker,
  type DiagramShape,
  isStateShape,
  type StateShape,
} from './diagram.ts';
import { escapeMarkup } from './escape.ts';
import {
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
export const FONT_FAMILY = 'Helvetica,Arial,sans-serif';
const MONO_FONT_FAMILY = 'Courier New,DejaVu Sans Mono,monospace';

const MAX_NAME_LENGTH = 40;

/** The attributes of a shape. Its classes are for pages with a style sheet, the rest for pictures without. */
export function buildShapeAttributes(shape: DiagramShape, hasRun: boolean): Attributes {
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
export function buildArrowAttributes(arrow: Arrow, labelled: boolean): Attributes {
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
export type GraphvizStyle = Readonly<Record<string, string | number>>;

const DARK = '#1f2933';
const RED = '#c5221f';
const GREEN = '#1e8e3e';
/** The color of what matters less. */
export const GRAY = '#5f6b7a';
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
