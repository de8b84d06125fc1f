/** A position in a file, counted from 1; line 0 stands for the file, or the workflow, as a whole. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** The position of what concerns a whole file or workflow. */
export const WHOLE_FILE: TextPosition = { line: 0, column: 0 };

/** Orders positions as they follow each other in a file. */
export const comparePositions = (a: TextPosition, b: TextPosition): number => a.line - b.line || a.column - b.column;
