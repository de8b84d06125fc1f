/** JSON from outside may be nested so deep at most: deeper values overflow the stack of the code that walks them. */
export const MAX_JSON_DEPTH = 500;

/** Parses the JSON of an outside text; undefined if it is no JSON or is nested too deep. Every such text enters here. */
export function tryParseJson(text: string): unknown {
  try {
    return isNestedTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Says what keeps a text from being JSON, in the words of the parser, with the line if that names the place. */
export function describeJsonProblem(text: string): string | undefined {
  if (isNestedTooDeep(text)) return `nested more than ${MAX_JSON_DEPTH} levels deep`;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const [, what = '', at] =
      /^(.*?)(?: in JSON at position (\d+)\b.*)?$/s.exec(error instanceof Error ? error.message : '') ?? [];
    const words = what.replace(/\s+/g, ' ');
    return at === undefined ? words : `line ${text.slice(0, Number(at)).split('\n').length}: ${words}`;
  }
}

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** True for a text that would be nested deeper than the limit if it were JSON. */
export function isNestedTooDeep(text: string): boolean {
  if (text.length <= MAX_JSON_DEPTH) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = findStringEnd(text, at + 1);
      if (at < 0) return false;
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return true;
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

/** The closing quote of a string that begins here; -1 if it has none. */
function findStringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (before >= start && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return -1;
}

/** True if a text somewhere in this data has a NUL character, which no path, argument or variable can have. */
export function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, each]) => key.includes('\0') || hasNul(each));
}

/** Control characters beyond those that JSON escapes by itself, and marks that change the direction of text. */
const UNESCAPED_CONTROLS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Formats a value as JSON in which no character controls a terminal: those are escaped. */
export const formatJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    UNESCAPED_CONTROLS,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
