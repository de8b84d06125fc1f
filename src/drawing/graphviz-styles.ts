import type { ArrowKind, DiagramShape } from './diagram.ts';

/** How a shape or an arrow looks where no style sheet says otherwise, in words of Graphviz. */
export type GraphvizStyle = Readonly<Record<string, string | number>>;

const DARK = '#1f2933';
export const RED = '#c5221f';
export const GREEN = '#1e8e3e';
export const GRAY = '#5f6b7a';
export const LIGHT_GRAY = '#c4cad3';

export const SHAPE_STYLES: Readonly<Record<DiagramShape['kind'], GraphvizStyle>> = {
  prompt: { shape: 'box', style: 'rounded,filled', fillcolor: '#eef4ff', color: '#3b6fd4' },
  script: { shape: 'box', style: 'filled', fillcolor: '#f3f0e6', color: '#8a7433' },
  missing: { shape: 'box', style: 'dashed,filled', fillcolor: '#fdeceb', color: RED, fontcolor: RED },
  ambiguous: { shape: 'box', style: 'dashed,filled', fillcolor: '#fdeceb', color: RED, fontcolor: RED },
  gone: { shape: 'box', style: 'dashed,filled', fillcolor: '#f2f3f5', color: GRAY, fontcolor: GRAY },
  begin: {
    shape: 'circle',
    style: 'filled',
    fillcolor: DARK,
    color: DARK,
    width: 0.16,
    height: 0.16,
    fixedsize: 'true',
  },
  end: {
    shape: 'doublecircle',
    style: 'filled',
    fillcolor: DARK,
    color: DARK,
    width: 0.11,
    height: 0.11,
    fixedsize: 'true',
  },
  back: {
    shape: 'circle',
    style: 'filled',
    fillcolor: 'white',
    color: '#2e7d43',
    width: 0.18,
    height: 0.18,
    fixedsize: 'true',
  },
  any: { shape: 'box', style: 'rounded,dashed,filled', fillcolor: 'white', color: GRAY, fontcolor: GRAY },
  unsaid: { shape: 'box', style: 'dashed,filled', fillcolor: '#fdeceb', color: RED, fontcolor: RED },
};

export const ARROW_STYLES: Readonly<Record<ArrowKind, GraphvizStyle>> = {
  begin: { color: DARK },
  goto: { color: '#44546a' },
  reset: { color: '#7b3fb5', arrowhead: 'onormal' },
  call: { color: '#1a73a8' },
  function: { color: '#1a73a8', arrowhead: 'onormal' },
  return: { color: '#1a73a8', style: 'dashed' },
  fork: { color: '#c2590c', penwidth: 2 },
  next: { color: '#c2590c', style: 'dashed' },
  result: { color: '#2e7d43' },
  back: { color: '#2e7d43', style: 'dashed' },
  guess: { color: GRAY, style: 'dotted' },
};
