import { sanitize } from '../../sanitize.ts';
import { widthOf } from '../../text-width.ts';

/** A text that is being typed, and where the cursor is in it. */
export interface AnswerLine {
  readonly text: string;
  readonly cursor: number;
}

/** A line with this text, and the cursor at its end. */
export const createAnswerLine = (text = ''): AnswerLine => ({ text, cursor: text.length });

/** Inserts a text at the cursor, without what could control a terminal. */
export const insertText = ({ text, cursor }: AnswerLine, typed: string): AnswerLine => {
  const added = sanitize(typed);
  return { text: `${text.slice(0, cursor)}${added}${text.slice(cursor)}`, cursor: cursor + added.length };
};

const moveTo = ({ text }: AnswerLine, cursor: number): AnswerLine => ({ text, cursor });

const cut = ({ text }: AnswerLine, from: number, to: number): AnswerLine => ({
  text: text.slice(0, from) + text.slice(to),
  cursor: from,
});

type Edit = (line: AnswerLine) => AnswerLine;

const [toStart, toEnd]: readonly [Edit, Edit] = [(line) => moveTo(line, 0), (line) => moveTo(line, line.text.length)];

/** Key bindings, as in a shell. */
const EDITS: ReadonlyMap<string, Edit> = new Map<string, Edit>([
  ['left', (line) => moveTo(line, findCharacterBefore(line))],
  ['right', (line) => moveTo(line, findCharacterAfter(line))],
  ['home', toStart],
  ['ctrl-a', toStart],
  ['end', toEnd],
  ['ctrl-e', toEnd],
  ['backspace', (line) => cut(line, findCharacterBefore(line), line.cursor)],
  ['delete', (line) => cut(line, line.cursor, findCharacterAfter(line))],
  ['ctrl-u', (line) => cut(line, 0, line.cursor)],
  ['ctrl-k', (line) => cut(line, line.cursor, line.text.length)],
  ['ctrl-w', (line) => cut(line, findWordBefore(line), line.cursor)],
  ['enter', (line) => insertText(line, '\n')],
]);

/** The line after a key; the same object if the key means nothing here. */
export function editLine(line: AnswerLine, key: string, typed: string): AnswerLine {
  const edit = EDITS.get(key);
  if (edit !== undefined) return edit(line);
  return typed === '' ? line : insertText(line, typed);
}

const SEGMENTER = new Intl.Segmenter();
/** No character that a person types is longer. */
const MAX_CHARACTER_LENGTH = 64;

function findCharacterBefore({ text, cursor }: AnswerLine): number {
  const before = [...SEGMENTER.segment(text.slice(Math.max(0, cursor - MAX_CHARACTER_LENGTH), cursor))];
  return cursor - (before.at(-1)?.segment.length ?? 0);
}

function findCharacterAfter({ text, cursor }: AnswerLine): number {
  const [next] = SEGMENTER.segment(text.slice(cursor, cursor + MAX_CHARACTER_LENGTH));
  return cursor + (next?.segment.length ?? 0);
}

const findWordBefore = ({ text, cursor }: AnswerLine): number => {
  const before = text.slice(0, cursor).trimEnd();
  return Math.max(before.lastIndexOf(' '), before.lastIndexOf('\n')) + 1;
};

/** More than any screen shows: of a long text only the part around the cursor is laid out. */
const CHARS_AROUND = 4_000;

/** The rows of the text around the cursor, at most so many, and the cursor shown by `mark`. */
export function renderAnswerLine(
  { text, cursor }: AnswerLine,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  mark: (character: string) => string,
): readonly string[] {
  const from = Math.max(0, cursor - CHARS_AROUND);
  const lines: string[] = [''];
  let [width, cursorRow, at] = [0, 0, from];
  const put = (character: string): void => {
    const isLineEnd = character === '\n' || character === '';
    const characterWidth = isLineEnd ? 1 : widthOf(character);
    if (width + characterWidth > columns) {
      lines.push('');
      width = 0;
    }
    if (at === cursor) cursorRow = lines.length - 1;
    const shown = isLineEnd ? '' : character;
    lines[lines.length - 1] += at === cursor ? mark(shown) : shown;
    width += characterWidth;
    if (character !== '\n') return;
    lines.push('');
    width = 0;
  };
  for (const { segment } of SEGMENTER.segment(text.slice(from, cursor + CHARS_AROUND))) {
    put(segment.replaceAll('\t', ' '));
    at += segment.length;
  }
  if (at === cursor) put('');
  const first = Math.max(0, Math.min(cursorRow - Math.floor(rows / 2), lines.length - rows));
  return lines.slice(first, first + rows);
}
