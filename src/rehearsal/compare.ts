import { EXIT } from '../errors.ts';
import type { Place } from '../scenario/document.ts';
import type { Expectation, Rehearsal, Wish } from '../scenario/rehearsal.ts';
import type { Difference } from './difference.ts';
import { LOOKS, type Look, REASON, trouble } from './looks.ts';
import { Records } from './records.ts';
import type { Performance } from './rehearse.ts';
import { whereaboutsOf } from './whereabouts.ts';

/**
 * What of a scenario did not come as expected: first how it ended, then which way it went, which explain most of the
 * rest. If it went wrong altogether, hardly anything else can be as expected: then only its results are told besides.
 */
export function compare(rehearsal: Rehearsal, performance: Performance): readonly Difference[] {
  const { expectations } = rehearsal;
  const records = new Records(performance);
  const unplayable = unplayableOf(rehearsal, performance);
  const isFailure = unplayable.length === 0 && hasFailed(expectations, records);
  const kinds = unplayable.length > 0 ? ['path'] : ['status', 'exit', 'path', 'result'];
  const isAll = unplayable.length === 0 && !isFailure;
  const compared = expectations.filter(({ kind }) => isAll || kinds.includes(kind));
  const ranked = compared.toSorted((a, b) => rankOf(a) - rankOf(b) || a.line - b.line || a.column - b.column);
  const found = ranked.flatMap((wish): readonly Difference[] => {
    const look = LOOKS[wish.kind] as Look<Wish>;
    const { line, column } = wish;
    return look(wish, records).map(([what, detail]) => ({ line, column, what, detail }));
  });
  return withoutEchoes([...unplayable, ...(isFailure ? failureOf(rehearsal, records) : []), ...found]);
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

/** Why the scenario cannot be played. What it lacks is missed only if somebody had to stop for it. */
function unplayableOf({ at, scenario }: Rehearsal, { lacks, isLate, run, events }: Performance): readonly Difference[] {
  const isLacking = lacks.length > 0 && run.agents.some(({ phase }) => phase.kind === 'paused');
  if (isLacking) return lacks.map((message) => lackOf(message, scenario.file, at));
  if (!isLate) return [];
  const message = 'it took too long and was ended; --timeout gives it more time';
  return [{ ...at, what: 'it', detail: trouble([message, ...whereaboutsOf(events)].join('\n')) }];
}

/** What it lacks is said with its place, if it has one that is nearer than the scenario as a whole. */
function lackOf(message: string, own: string, at: Place): Difference {
  const [, file, line, column, rest] = /^(.+?):(\d+):(\d+): ([\s\S]*)$/.exec(message) ?? [];
  if (file === undefined || rest === undefined) {
    const short = message.startsWith(`${own} `) ? `this scenario${message.slice(own.length)}` : message;
    return { ...at, what: 'it', detail: trouble(`${short}.`) };
  }
  return { file, line: Number(line), column: Number(column), what: 'it', detail: trouble(`${rest}.`) };
}

/** Whether it did not complete though it should have: anything else would have to be expected. */
function hasFailed(expectations: readonly Expectation[], { run }: Records): boolean {
  const isForeseen = expectations.some(
    (wish) =>
      (wish.kind === 'status' && wish.status !== 'completed') || (wish.kind === 'exit' && wish.code !== EXIT.completed),
  );
  return run.status !== 'completed' && !isForeseen;
}

/** That it has failed, unless a wish of its own says so. */
function failureOf({ at, expectations }: Rehearsal, { run, reasons }: Records): readonly Difference[] {
  if (expectations.some(({ kind }) => kind === 'status' || kind === 'exit')) return [];
  return [
    { ...at, what: 'it', detail: trouble(`the run should complete, but it ends as ${run.status}`) },
    ...reasons.map((reason) => ({ ...at, what: REASON, detail: trouble(reason) })),
  ];
}
