import { isAttributeWord, startsWorkers, type TagName } from '../language/transitions/index.ts';
import { formatNamePattern } from './state-resolver.ts';

/** Something that a tag says about workers and that belongs on its arrow: their worktree or group, or which of them a join awaits. */
export interface EdgeTerm {
  readonly kind: 'worktree' | 'group' | 'wait' | 'cancel';
  /** The group, or how many workers are awaited; null for what has no value. */
  readonly value: string | null;
}

/** The terms of a tag that is written with any of these attributes. */
export function termsIn(
  name: TagName,
  attributeSets: readonly Readonly<Record<string, string>>[],
): readonly EdgeTerm[] {
  if (name !== 'join' && !startsWorkers(name)) return [];
  const terms = attributeSets.flatMap((each) => (name === 'join' ? joinTerms(each) : workerTerms(name, each)));
  return [...new Map(terms.map((term) => [`${term.kind} ${term.value}`, term])).values()];
}

const workerTerms = (name: TagName, { worktree, group }: Readonly<Record<string, string>>): readonly EdgeTerm[] => [
  ...(isAttributeWord(name, 'worktree', worktree) ? [{ kind: 'worktree', value: null } as const] : []),
  ...groupTerms(group),
];

const joinTerms = ({ group, wait = 'all', cancel }: Readonly<Record<string, string>>): readonly EdgeTerm[] => [
  ...groupTerms(group),
  ...(wait === 'all' ? [] : [{ kind: 'wait', value: formatNamePattern(wait) } as const]),
  ...(cancel === 'true' ? [{ kind: 'cancel', value: null } as const] : []),
];

const groupTerms = (group: string | undefined): readonly EdgeTerm[] =>
  group === undefined ? [] : [{ kind: 'group', value: formatNamePattern(group) }];
