import { stripVTControlCharacters } from 'node:util';

/** Lone surrogates, marks that turn the direction of writing, and control characters but for tab and line feed. */
const CONTROL_CHARACTERS = /(?![\t\n])[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/gu;

/** Text without anything that could drive a terminal: models and scripts may say what they like. */
export const sanitize = (text: string): string =>
  stripVTControlCharacters(text.replace(/\r\n?/g, '\n')).replace(CONTROL_CHARACTERS, '');

/** The same in one line. */
export const sanitizeLine = (text: string): string => sanitize(text).replace(/\s+/g, ' ').trim();

/** The lines of a text that have something on them, tabs spread out. */
export const sanitizeLines = (text: string): readonly string[] =>
  sanitize(text)
    .split('\n')
    .map((line) => line.replaceAll('\t', '    ').trimEnd())
    .filter((line) => line !== '');
