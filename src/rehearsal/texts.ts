import type { TextWish } from '../scenario/rehearsal.ts';
import type { Detail } from './difference.ts';

/** What keeps a text from being as wished. Where `exact` is false, blanks around it do not count. */
export function faultsOfText(actual: string, wish: TextWish, exact: boolean): readonly Detail[] {
  const { equals } = wish;
  const [expected, text] = exact ? [equals, actual] : [equals?.trim() ?? null, actual.trim()];
  const parts = (
    kind: 'contains' | 'lacks' | 'matches',
    given: readonly string[],
    holds: (part: string) => boolean,
  ): readonly Detail[] =>
    given.filter((part) => !holds(part)).map((part) => ({ kind: 'parts', wish: kind, part, actual }));
  return [
    ...(expected === null || expected === text ? [] : [{ kind: 'texts', expected, actual: text } as const]),
    ...parts('contains', wish.contains, (part) => actual.includes(part)),
    ...parts('lacks', wish.lacks, (part) => !actual.includes(part)),
    ...parts('matches', wish.matches, (pattern) => new RegExp(pattern, 'm').test(actual)),
  ];
}
