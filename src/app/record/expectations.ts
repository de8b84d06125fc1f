import type { Event } from '../../core/run/event.ts';
import { microsToUsd } from '../../core/run/ledger.ts';
import type { Run } from '../../core/run/run.ts';
import { exitCodeOf } from '../../documents/run-document.ts';
import { collectAgentPaths, collectPrints, collectResults } from '../../render/run-history.ts';
import type { RecordingContext } from './answers.ts';
import type { RecordedVisit } from './visits.ts';

/** The expectations of a recording: the outcome of the run. Only the wording of its prompts may change. */
export function recordExpectations(
  run: Run,
  events: readonly Event[],
  visits: readonly RecordedVisit[],
  scrub: RecordingContext['scrub'],
): object {
  const paths = collectAgentPaths(events);
  const allResults = collectResults(events);
  const results = [...paths.keys()].flatMap((id) => {
    const result = allResults.get(id);
    return result === undefined ? [] : [[id, scrub(id, result)] as const];
  });
  return {
    path: paths.size === 1 ? [...paths.values()][0] : Object.fromEntries(paths),
    ...(results.length > 0 && { results: Object.fromEntries(results) }),
    ...recordPrints(events, paths.size === 1, scrub),
    cost: microsToUsd(run.ledger.spentMicros),
    turns: countTurns(visits),
    reminders: countReminders(events),
    // Warnings of a real run may have nothing to do with its workflow.
    ...(events.every(({ kind }) => kind !== 'warning') && { warnings: 0 }),
    status: run.status,
    exit: exitCodeOf(run),
  };
}

/** The texts that agents showed with `<print>`, if any. */
function recordPrints(
  events: readonly Event[],
  isOnlyAgent: boolean,
  scrub: RecordingContext['scrub'],
): { readonly prints?: object } {
  const byAgent = [...collectPrints(events)].map(([id, texts]) => [id, texts.map((text) => scrub(id, text))] as const);
  const [first] = byAgent;
  if (first === undefined) return {};
  return { prints: isOnlyAgent ? first[1] : Object.fromEntries(byAgent) };
}

/**
 * The turns of states where a visit took more than one; the path covers the others. The total if there is no such
 * state.
 */
function countTurns(visits: readonly RecordedVisit[]): number | Readonly<Record<string, number>> {
  const sumTurns = (subset: readonly RecordedVisit[]): number =>
    subset.reduce((sum, visit) => sum + countTurnsOf(visit), 0);
  const multiTurnStates = new Set(visits.flatMap((visit) => (countTurnsOf(visit) > 1 ? visit.state : [])));
  if (multiTurnStates.size === 0) return sumTurns(visits);
  return Object.fromEntries(
    [...multiTurnStates].map((state) => [state, sumTurns(visits.filter((each) => each.state === state))]),
  );
}

/** The turns of a visit, with that of the summary before it. */
const countTurnsOf = ({ turns }: RecordedVisit): number => turns.length + (turns[0]?.summary ? 1 : 0);

/** The reminders of each state; 0 if there is none. */
function countReminders(events: readonly Event[]): number | Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  const count = (file: string): unknown => counts.set(file, (counts.get(file) ?? 0) + 1);
  for (const event of events) {
    if (event.kind === 'reminded') count(event.evaluator ?? event.state);
  }
  return counts.size === 0 ? 0 : Object.fromEntries(counts);
}
