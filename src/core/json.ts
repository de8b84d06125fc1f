/** The value that a text is the JSON of; undefined if it is no JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Says what keeps a text from being JSON, in the words of the parser, with the line if that names the place. */
export function describeJsonProblem(text: string): string | undefined {
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

/** Control characters beyond those that JSON escapes by itself, and marks that change the direction of text. */
const UNESCAPED_CONTROLS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Formats a value as JSON in which no character controls a terminal: those are escaped. */
export const formatJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    UNESCAPED_CONTROLS,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
