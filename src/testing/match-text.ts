import type { TextExpectation } from '../scenario/test-spec.ts';
import type { DifferenceDetail } from './difference.ts';

/** What keeps a text from being as wished. Where `exact` is false, blanks around it do not count. */
export function findTextMismatches(
  actual: string,
  expectation: TextExpectation,
  exact: boolean,
): readonly DifferenceDetail[] {
  const { equals } = expectation;
  const [expected, text] = exact ? [equals, actual] : [equals?.trim() ?? null, actual.trim()];
  const mismatchedParts = (
    matcher: 'contains' | 'lacks' | 'matches',
    expectedParts: readonly string[],
    matches: (part: string) => boolean,
  ): readonly DifferenceDetail[] =>
    expectedParts.filter((part) => !matches(part)).map((part) => ({ kind: 'parts', matcher, part, actual }));
  return [
    ...(expected === null || expected === text ? [] : [{ kind: 'texts', expected, actual: text } as const]),
    ...mismatchedParts('contains', expectation.contains, (part) => actual.includes(part)),
    ...mismatchedParts('lacks', expectation.lacks, (part) => !actual.includes(part)),
    ...mismatchedParts('matches', expectation.matches, (pattern) => new RegExp(pattern, 'm').test(actual)),
  ];
}
