import { stripVTControlCharacters } from 'node:util';
import { STYLE_SEQUENCES } from './text-style.ts';

/** Lone surrogates, marks that change the direction of text, and control characters except tab and line feed. */
const CONTROL_CHARACTERS = /(?![\t\n])[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/gu;

/** Text without anything that could control a terminal: models and scripts may print anything. */
export const sanitize = (text: string): string =>
  stripVTControlCharacters(text.replace(/\r\n?/g, '\n')).replace(CONTROL_CHARACTERS, '');

/** Sanitizes a text that has styles of our own in it, and keeps those. */
export const sanitizeStyled = (text: string): string =>
  text
    .split(STYLE_SEQUENCES)
    .map((part, at) => (at % 2 === 1 ? part : sanitize(part)))
    .join('');

/** A text in one line, without anything that could control a terminal. */
export const sanitizeLine = (text: string): string => sanitize(text).replace(/\s+/g, ' ').trim();

/** The beginning of a text in one line, with `…` for the rest; a very long text is cut before it is sanitized. */
export function sanitizeShortLine(text: string, maxChars: number): string {
  const line = sanitizeLine(text.slice(0, 10 * maxChars));
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line;
}

/** The lines of a text that are not empty, with tabs as spaces and nothing that could control a terminal. */
export const sanitizeLines = (text: string): readonly string[] =>
  sanitize(text)
    .split('\n')
    .map((line) => line.replaceAll('\t', '    ').trimEnd())
    .filter((line) => line !== '');
