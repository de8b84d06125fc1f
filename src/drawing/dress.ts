import type { Attributes } from '@viz-js/viz';
import { escapeMarkup } from './escape.ts';
import { inLine, isUntaken, LONGEST_NOTE, labelOf, notesOf, partedOf, presenceLines } from './figures.ts';
import { ARROWS, FAINT, GREEN, PALE, RED, SHAPES } from './looks.ts';
import { type Arrow, isState, type Mark, type Shape, type StateShape } from './picture.ts';

/** Graphviz knows the width of one font only; others are wider, so that it is told of larger letters than are drawn. */
export const ROOM = 1.1;
export const FONT = 'Helvetica,Arial,sans-serif';
const MONO = 'Courier New,DejaVu Sans Mono,monospace';

const LONGEST_NAME = 40;

/** What a shape looks like. Classes are for those who have a style sheet, the rest for those who have none. */
export function dressShape(shape: Shape, travelled: boolean): Attributes {
  const look = SHAPES[shape.kind];
  if (!isState(shape)) {
    const faded = shape.passed ? {} : { color: PALE, ...(shape.kind === 'back' ? {} : { fillcolor: PALE }) };
    const word = { label: MARK_WORDS[shape.kind], fontsize: 11 * ROOM };
    return { ...look, ...faded, ...word, id: shape.key, class: shape.passed ? shape.kind : `${shape.kind} untaken` };
  }
  const { here, failed } = partedOf(shape.agents);
  const untaken = isUntaken(shape, travelled);
  const classes = [
    [shape.kind, true],
    ['state', true],
    ['open', shape.open],
    ['untaken', untaken],
    ['here', here.length > 0],
    ['failed', here.length === 0 && failed.length > 0],
  ] as const;
  return {
    ...look,
    ...(shape.open && { style: `${look.style},dashed` }),
    ...(shape.kind === 'script' && { fontname: MONO }),
    ...(untaken && { fillcolor: 'white', color: PALE, fontcolor: FAINT }),
    ...(shape.agents.length > 0 && { color: here.length > 0 ? GREEN : RED, penwidth: 3 }),
    label: { html: linesOf(shape).join('<BR/>') },
    id: shape.key,
    class: classes.flatMap(([name, holds]) => (holds ? [name] : [])).join(' '),
  };
}

const MARK_WORDS: Readonly<Record<Mark['kind'], string>> = {
  begin: '',
  end: '',
  back: '',
  any: 'any state',
  unsaid: 'not said',
};

/** The name of a state, and below it in small letters what else there is to know at first sight. */
function linesOf(shape: StateShape): readonly string[] {
  const { state, kind, agents } = shape;
  const isWrong = kind === 'missing' || kind === 'ambiguous';
  return [
    `<B>${markup(inLine(state, LONGEST_NAME) || '\ufffd')}</B>`,
    ...notesOf(shape).map((note) => small(note, isWrong ? RED : FAINT)),
    ...presenceLines(agents).map((line) => small(line, line.startsWith('▶') ? GREEN : RED)),
  ];
}

const small = (text: string, colour: string): string =>
  `<FONT FACE="${FONT}" POINT-SIZE="${10 * ROOM}" COLOR="${colour}">${markup(inLine(text, LONGEST_NOTE))}</FONT>`;

/** What an arrow looks like: the more often it was taken, the thicker; what was never taken fades. */
export function dressArrow(arrow: Arrow, labelled: boolean): Attributes {
  const { kind, times, unforeseen, computed } = arrow;
  const look = ARROWS[kind];
  const label = labelled ? labelOf(arrow) : '';
  const width = Number(look.penwidth ?? 1);
  return {
    ...look,
    ...(unforeseen && { style: 'dashed' }),
    ...(computed && { style: 'dotted' }),
    ...(times === 0 && { color: PALE, fontcolor: '#9aa5b1', penwidth: 1 }),
    ...(times !== null && times > 0 && { penwidth: width + 0.4 + Math.min(3, Math.log2(times)) }),
    ...(label !== '' && { label: ` ${plain(inLine(label, LONGEST_NAME))} ` }),
    class: [kind, ...(unforeseen ? ['unforeseen'] : []), ...(times === 0 ? ['untaken'] : [])].join(' '),
  };
}

/** Graphviz reads backslashes in labels; in those without markup it reads entities all the same. */
const plain = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('&', '&amp;');
const markup = (text: string): string => escapeMarkup(text).replaceAll('\\', '\\\\');
