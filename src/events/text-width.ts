import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** The number of columns that a text takes: wide characters take two, combining marks and colors none. */
export const widthOf = (text: string): number => stringWidth(text);

/** Shortens a text to a width, with `…` for what is left out: after its start, or before its end. */
export function shorten(text: string, width: number, keep: 'start' | 'end' = 'start'): string {
  if (widthOf(text) <= width) return text;
  const characters = Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
  if (keep === 'end') characters.reverse();
  const kept: string[] = [];
  let left = width - 1;
  for (const character of characters) {
    left -= widthOf(character);
    if (left < 0) break;
    kept.push(character);
  }
  if (width < 1) return '';
  return keep === 'end' ? `…${kept.reverse().join('').trimStart()}` : `${kept.join('').trimEnd()}…`;
}

/** Pads a text with spaces to a width. */
export function padToWidth(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const spaces = ' '.repeat(Math.max(0, width - widthOf(text)));
  return side === 'left' ? `${spaces}${text}` : `${text}${spaces}`;
}

/** Breaks a text into lines between words and indents all but the first. A longer word, such as a path, stays whole. */
export function wrapText(text: string, columns: number): readonly string[] {
  if (columns === Number.POSITIVE_INFINITY || widthOf(text) <= columns) return [text];
  const [first = '', ...rest] = wrapAnsi(text, Math.max(1, columns - INDENT.length)).split('\n');
  return [first, ...rest.map((line) => `${INDENT}${line}`)];
}

const INDENT = '  ';
const SEGMENTER = new Intl.Segmenter();
