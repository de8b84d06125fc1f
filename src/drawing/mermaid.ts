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
  explainUnenterable,
  formatAgentLines,
  formatArrowLabel,
  isUnvisited,
  listShapeNotes,
  splitByFailure,
} from './labels.ts';

/** Renders a diagram for Mermaid. The same diagram always gives the same text. */
export function toMermaid({ shapes, arrows, hasRun }: Diagram): string {
  const { own, clusters } = clusterShapes(shapes);
  const render = (shape: DiagramShape): string =>
    `${shape.key}${renderShape(shape)}${formatClassSuffix(selectClass(shape, hasRun))}`;
  const classes = CLASSES.filter(([name]) => shapes.some((shape) => selectClass(shape, hasRun) === name));
  return [
    'flowchart TD',
    ...own.map((shape) => `  ${render(shape)}`),
    ...clusters.flatMap(({ key, name, shapes: inside }) => [
      `  subgraph ${key}["${escapeLabel(name)}"]`,
      ...inside.map((shape) => `    ${render(shape)}`),
      '  end',
    ]),
    ...arrows.map((arrow) => `  ${arrow.from} ${renderArrow(arrow)} ${arrow.to}`),
    ...classes.map(([name, style]) => `  classDef ${name} ${style}`),
    '',
  ].join('\n');
}

const ARROW_SYNTAX: Readonly<Record<ArrowKind, string>> = {
  begin: '-->',
  goto: '-->',
  reset: '-->',
  compact: '-->',
  call: '-->',
  function: '-->',
  return: '-.->',
  fork: '==>',
  next: '-.->',
  join: '-->',
  ask: '-->',
  result: '-->',
  back: '-.->',
  guard: '-.->',
  evaluator: '-.->',
  mentioned: '-.->',
};

function renderArrow(arrow: Arrow): string {
  const label = formatArrowLabel(arrow);
  const line = arrow.computed ? ARROW_SYNTAX.mentioned : ARROW_SYNTAX[arrow.kind];
  return label === '' ? line : `${line}|"${escapeLabel(label)}"|`;
}

const MARKER_SYNTAX: Readonly<Record<DiagramMarker['kind'], string>> = {
  begin: '((" "))',
  end: '((("end")))',
  caller: '(["back to the caller"])',
  any: '(["any state"])',
  targetless: '["no target"]',
};

function renderShape(shape: DiagramShape): string {
  if (!isStateShape(shape)) return MARKER_SYNTAX[shape.kind];
  const label = `"${listLabelLines(shape).map(escapeLabel).join('<br/>')}"`;
  return shape.kind === 'script' ? `{{${label}}}` : `[${label}]`;
}

const listLabelLines = (shape: StateShape): readonly string[] => [
  shape.state,
  ...listShapeNotes(shape),
  ...formatAgentLines(shape.agents),
];

const CLASSES = [
  ['missing', 'stroke:#c00,color:#c00,stroke-dasharray:5 3'],
  ['open', 'stroke-dasharray:5 3'],
  ['here', 'stroke:#080,stroke-width:3px'],
  ['failed', 'stroke:#c00,stroke-width:3px'],
  ['unvisited', 'opacity:0.5'],
] as const;

function selectClass(shape: DiagramShape, hasRun: boolean): (typeof CLASSES)[number][0] | null {
  if (!isStateShape(shape)) return shape.kind === 'targetless' ? 'missing' : shape.kind === 'any' ? 'open' : null;
  if (explainUnenterable(shape) !== null) return 'missing';
  const { here, failed } = splitByFailure(shape.agents);
  if (here.length > 0) return 'here';
  if (failed.length > 0) return 'failed';
  if (isUnvisited(shape, hasRun)) return 'unvisited';
  return shape.open ? 'open' : null;
}

const formatClassSuffix = (name: string | null): string => (name === null ? '' : `:::${name}`);

/** Escapes everything in a label that Mermaid would read as `#name;`, HTML, or the beginning of a list. */
const escapeLabel = (text: string): string =>
  text.replace(/[^\p{L}\p{N} .,_()×$▶✗-]|[.-](?![\p{L}\p{N}])/gu, (char) => `#${char.codePointAt(0)};`);
