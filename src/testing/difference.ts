import type { TextPosition } from '../language/text/text.ts';

/** Something that is not as the scenario expects, and where the scenario says so. */
export interface Difference extends TextPosition {
  /** The subject of the difference: `the path of main`. */
  readonly what: string;
  /** The file of the position; the scenario's own if left out. */
  readonly file?: string;
  readonly detail: DifferenceDetail;
}

/** The findings of a test case. */
export interface TestFindings {
  readonly differences: readonly Difference[];
  /** Things that its author should know even if the test passes. */
  readonly warnings: readonly string[];
}

type Value = string | number;

/** The difference itself. */
export type DifferenceDetail =
  | { readonly kind: 'values'; readonly expected: Value; readonly actual: Value; readonly unit?: '$' }
  /** Item by item. */
  | { readonly kind: 'lists'; readonly expected: readonly string[]; readonly actual: readonly string[] }
  /** Line by line. */
  | { readonly kind: 'texts'; readonly expected: string; readonly actual: string }
  /** A text that fails one of the partial matchers. */
  | {
      readonly kind: 'parts';
      readonly matcher: 'contains' | 'lacks' | 'matches';
      readonly part: string;
      readonly actual: string;
    }
  /** Something went wrong, so there was nothing to compare. */
  | { readonly kind: 'problem'; readonly message: string };

/** A line of a diff: ` ` is in both lists, `-` only in the expected one, `+` only in the actual one. */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Larger comparisons would take too long: they report everything as different. */
const MAX_CELLS = 4_000_000;

/** Compares two lists and returns the shortest diff between them. */
export function diffLists(expected: readonly string[], actual: readonly string[]): readonly DiffLine[] {
  let start = 0;
  while (start < expected.length && start < actual.length && expected[start] === actual[start]) start += 1;
  let end = 0;
  const maxEnd = Math.min(expected.length, actual.length) - start;
  while (end < maxEnd && expected.at(-1 - end) === actual.at(-1 - end)) end += 1;
  const middle = diffMiddle(expected.slice(start, expected.length - end), actual.slice(start, actual.length - end));
  return [...unchanged(expected.slice(0, start)), ...middle, ...unchanged(end === 0 ? [] : expected.slice(-end))];
}

const unchanged = (items: readonly string[]): readonly DiffLine[] => items.map((text) => ({ sign: ' ', text }));

/** Diffs by the longest common subsequence. */
function diffMiddle(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const [removed, added] = [
    a.map((text): DiffLine => ({ sign: '-', text })),
    b.map((text): DiffLine => ({ sign: '+', text })),
  ];
  if (a.length === 0 || b.length === 0 || a.length * b.length > MAX_CELLS) return [...removed, ...added];
  const width = b.length + 1;
  const commonLengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => commonLengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      commonLengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) lines.push({ sign: ' ', text: a[i] ?? '' });
    if (a[i] === b[j]) [i, j] = [i + 1, j + 1];
    else if (at(i + 1, j) >= at(i, j + 1)) lines.push(removed[i++] as DiffLine);
    else lines.push(added[j++] as DiffLine);
  }
  return [...lines, ...removed.slice(i), ...added.slice(j)];
}
