import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** The number of columns that a text takes: wide characters take two, combining marks and colors none. */
export function widthOf(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  return stringWidth(text.replace(INVISIBLE, ''), { tabWidth: 0 });
}

/**
 * Shortens a text to a width, with `…` for what is left out: after its start, or before its end. Of a very long text no
 * more than that start or end is looked at.
 */
export function shorten(text: string, width: number, keep: 'start' | 'end' = 'start'): string {
  const maxChars = Math.max(WINDOW_CHARS, width * MAX_CHARS_PER_COLUMN);
  const isLong = text.length > maxChars;
  if (!isLong && widthOf(text) <= width) return text;
  const part = !isLong ? text : keep === 'end' ? text.slice(-maxChars) : text.slice(0, maxChars);
  const characters = [...splitCharacters(part)];
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

/**
 * Breaks a text into lines between words and indents all but the first. A longer word, such as a path, stays whole, and
 * so does a text that no screen has room for.
 */
export function wrapText(text: string, columns: number): readonly string[] {
  if (columns === Number.POSITIVE_INFINITY || text.length > MAX_WRAPPED_CHARS || widthOf(text) <= columns)
    return [text];
  const [first = '', ...rest] = wrapAnsi(text, Math.max(1, columns - INDENT.length)).split('\n');
  return [first, ...rest.map((line) => `${INDENT}${line}`)];
}

/** Breaks a text into lines of at most this width, between words if it can, in time linear in its length. */
export function wrapWhole(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', '    '), Math.max(2, columns)));
}

function wrapLine(line: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let [current, width] = ['', 0];
  const append = (part: string, partWidth: number): void => {
    if (width + partWidth > columns) {
      lines.push(current.trimEnd());
      [current, width] = ['', 0];
    }
    current += part;
    width += partWidth;
  };
  for (const [word = ''] of line.matchAll(/\s+|\S+/g)) {
    const wordWidth = widthOf(word);
    // A space at which the line breaks belongs to neither line.
    if (current !== '' && word.trim() === '' && width + wordWidth > columns) width = columns;
    else if (wordWidth <= columns) append(word, wordWidth);
    else for (const character of splitCharacters(word)) append(character, widthOf(character));
  }
  return [...lines, current.trimEnd()];
}

const INDENT = '  ';
const PRINTABLE_ASCII = /^[ -~]*$/;
/** A column as the library counts it. */
const INVISIBLE = /[\u00ad\u200b\u2060\ud800-\udfff]/gu;
const MAX_WRAPPED_CHARS = 10_000;
/** More marks on one letter are not meant to be read. */
const MAX_CHARS_PER_COLUMN = 50;
const WINDOW_CHARS = 256;

/** Made at its first use, which takes ten milliseconds. */
let segmenter: Intl.Segmenter | undefined;

/** The characters of a text as a reader counts them, window by window: the segmenter takes quadratic time for long texts. */
function* splitCharacters(text: string): Generator<string, void, undefined> {
  segmenter ??= new Intl.Segmenter();
  for (let at = 0; at < text.length; ) {
    const window = text.slice(at, at + WINDOW_CHARS).replace(/(?<=.)[\ud800-\udbff]$/s, '');
    const characters = Array.from(segmenter.segment(window), ({ segment }) => segment);
    // The last one may continue behind the window.
    if (at + window.length < text.length && characters.length > 1) at -= characters.pop()?.length ?? 0;
    yield* characters;
    at += window.length;
  }
}
