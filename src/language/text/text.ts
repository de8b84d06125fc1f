/** The first line of a text that is not blank, trimmed. */
export function firstLine(text: string): string {
  const trimmed = text.trimStart();
  const end = trimmed.indexOf('\n');
  return (end < 0 ? trimmed : trimmed.slice(0, end)).trimEnd();
}

/** A position in a file, counted from 1; line 0 stands for the file, or the workflow, as a whole. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** The position of what concerns a whole file or workflow. */
export const WHOLE_FILE: TextPosition = { line: 0, column: 0 };

/** Orders positions as they follow each other in a file. */
export const comparePositions = (a: TextPosition, b: TextPosition): number => a.line - b.line || a.column - b.column;
