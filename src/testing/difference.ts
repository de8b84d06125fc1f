import type { TextPosition } from '../language/text/text-position.ts';

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
