import { isUntaken, labelOf, notesOf, partedOf, presenceLines, remarkOf } from './figures.ts';
import {
  type Arrow,
  type ArrowKind,
  isState,
  type Mark,
  type Picture,
  type Shape,
  type StateShape,
} from './picture.ts';

/** A picture as text that Mermaid draws. The same picture always gives the same text. */
export function toMermaid({ shapes, arrows, travelled }: Picture): string {
  const classes = CLASSES.filter(([name]) => shapes.some((shape) => classOf(shape, travelled) === name));
  return [
    'flowchart TD',
    ...shapes.map((shape) => `  ${shape.key}${shapeOf(shape)}${classSuffix(classOf(shape, travelled))}`),
    ...arrows.map((arrow) => `  ${arrow.from} ${lineOf(arrow)} ${arrow.to}`),
    ...classes.map(([name, style]) => `  classDef ${name} ${style}`),
    '',
  ].join('\n');
}

const LINES: Readonly<Record<ArrowKind, string>> = {
  begin: '-->',
  goto: '-->',
  reset: '-->',
  call: '-->',
  function: '-->',
  return: '-.->',
  fork: '==>',
  next: '-.->',
  result: '-->',
  back: '-.->',
  guess: '-.->',
};

function lineOf(arrow: Arrow): string {
  const label = labelOf(arrow);
  const line = arrow.computed ? LINES.guess : LINES[arrow.kind];
  return label === '' ? line : `${line}|"${escaped(label)}"|`;
}

const MARKS: Readonly<Record<Mark['kind'], string>> = {
  begin: '((" "))',
  end: '((("end")))',
  back: '(["back to the caller"])',
  any: '(["any state"])',
  unsaid: '["not said"]',
};

function shapeOf(shape: Shape): string {
  if (!isState(shape)) return MARKS[shape.kind];
  const label = `"${linesOf(shape).map(escaped).join('<br/>')}"`;
  return shape.kind === 'script' ? `{{${label}}}` : `[${label}]`;
}

const linesOf = (shape: StateShape): readonly string[] => [
  shape.state,
  ...notesOf(shape),
  ...presenceLines(shape.agents),
];

const CLASSES = [
  ['missing', 'stroke:#c00,color:#c00,stroke-dasharray:5 3'],
  ['open', 'stroke-dasharray:5 3'],
  ['here', 'stroke:#080,stroke-width:3px'],
  ['failed', 'stroke:#c00,stroke-width:3px'],
  ['unvisited', 'opacity:0.5'],
] as const;

function classOf(shape: Shape, travelled: boolean): (typeof CLASSES)[number][0] | null {
  if (!isState(shape)) return shape.kind === 'unsaid' ? 'missing' : shape.kind === 'any' ? 'open' : null;
  if (remarkOf(shape) !== null) return 'missing';
  const { here, failed } = partedOf(shape.agents);
  if (here.length > 0) return 'here';
  if (failed.length > 0) return 'failed';
  if (isUntaken(shape, travelled)) return 'unvisited';
  return shape.open ? 'open' : null;
}

const classSuffix = (name: string | null): string => (name === null ? '' : `:::${name}`);

/** Mermaid reads `#name;`, HTML and the beginnings of lists in labels, so that none of them may come from a name. */
const escaped = (text: string): string =>
  text.replace(/[^\p{L}\p{N} .,_()×$▶✗-]|[.-](?![\p{L}\p{N}])/gu, (char) => `#${char.codePointAt(0)};`);
