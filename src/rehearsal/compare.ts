import type { Expectation, Rehearsal, Wish } from '../scenario/rehearsal.ts';
import type { Detail, Difference } from './difference.ts';
import { LOOKS, type Look, trouble } from './looks.ts';
import { Records } from './records.ts';
import type { Performance } from './rehearse.ts';

/**
 * What of a scenario did not come as expected: first how it ended, then which way it went, which explain most of the
 * rest. If it went wrong altogether, nothing else can be as expected, and only these two are told.
 */
export function compare(rehearsal: Rehearsal, performance: Performance): readonly Difference[] {
  const { at, expectations } = rehearsal;
  const records = new Records(performance);
  const troubles = troublesOf(performance, expectations, records);
  const compared = troubles.length === 0 ? expectations : expectations.filter(({ kind }) => kind === 'path');
  const ranked = compared.toSorted((a, b) => rankOf(a) - rankOf(b) || a.line - b.line || a.column - b.column);
  const found = ranked.flatMap((wish): readonly Difference[] => {
    const look = LOOKS[wish.kind] as Look<Wish>;
    const { line, column } = wish;
    return look(wish, records).map(([what, detail]) => ({ line, column, what, detail }));
  });
  return withoutEchoes([...troubles.map((detail) => ({ ...at, what: 'it', detail })), ...found]);
}

const rankOf = ({ kind }: Expectation): number => (kind === 'status' || kind === 'exit' ? 0 : kind === 'path' ? 1 : 2);

/** The same trouble may stand in the way of several wishes; it is told once. */
function withoutEchoes(differences: readonly Difference[]): readonly Difference[] {
  const told = new Set<string>();
  return differences.filter(({ detail }) => {
    if (detail.kind !== 'trouble') return true;
    const isNew = !told.has(detail.message);
    told.add(detail.message);
    return isNew;
  });
}

/** What is wrong whatever is expected: the scenario cannot be played, or it ends badly and nobody said that it would. */
function troublesOf(
  performance: Performance,
  expectations: readonly Expectation[],
  { reasons }: Records,
): readonly Detail[] {
  const { lacks, isLate, run } = performance;
  if (lacks.length > 0) return lacks.map((message) => trouble(`${message}.`));
  if (isLate) return [trouble('it took too long and was ended; --timeout gives it more time')];
  const isForeseen = expectations.some(({ kind }) => kind === 'status' || kind === 'exit');
  if (isForeseen || run.status === 'completed') return [];
  return [trouble(`the run should complete, but it ends as ${run.status}`), ...reasons.map(trouble)];
}
