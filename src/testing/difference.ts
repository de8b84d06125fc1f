import type { TextPosition } from '../core/text-position.ts';

/** Something that is not as expected, and where that is written. */
export interface Difference extends TextPosition {
  /** What differs, as the beginning of a sentence: `the path of main`. */
  readonly what: string;
  /** The file in which that is written; the scenario's own if it is left out. */
  readonly file?: string;
  readonly detail: DifferenceDetail;
}

/** What is found when a scenario has been played. */
export interface TestFindings {
  readonly differences: readonly Difference[];
  /** What its author should know, also if all is as expected. */
  readonly warnings: readonly string[];
}

type Value = string | number;

/** How it differs. */
export type DifferenceDetail =
  | { readonly kind: 'values'; readonly expected: Value; readonly actual: Value; readonly unit?: '$' }
  /** Item by item. */
  | { readonly kind: 'lists'; readonly expected: readonly string[]; readonly actual: readonly string[] }
  /** Line by line. */
  | { readonly kind: 'texts'; readonly expected: string; readonly actual: string }
  /** A text that lacks something, or has too much of it. */
  | {
      readonly kind: 'parts';
      readonly matcher: 'contains' | 'lacks' | 'matches';
      readonly part: string;
      readonly actual: string;
    }
  /** No comparison: something went wrong. */
  | { readonly kind: 'trouble'; readonly message: string };
