import { formatJson } from '../language/text/json.ts';

/** Characters that XML does not allow, and those that change the direction of text. */
const INVISIBLE =
  /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces every character that cannot be seen by �. */
export const replaceInvisible = (text: string): string => text.replace(INVISIBLE, '\ufffd');

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, SVG, and attributes of either. */
export const escapeMarkup = (text: string): string =>
  replaceInvisible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** Data as JSON for a script element: nothing in it can end the element. */
export const escapeScriptData = (data: unknown): string => formatJson(data).replaceAll('<', '\\u003c');
