import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../core/run/event.ts';
import { microsToUsd } from '../../core/run/ledger.ts';
import type { Run } from '../../core/run/run.ts';
import { exitCodeOf } from '../../documents/run-document.ts';
import { errorMessageOf } from '../../errors.ts';
import { ASKS_FOLDER, askIdOf } from '../../language/ask.ts';
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

type EventOf<Kind extends Event['kind']> = Extract<Event, { kind: Kind }>;
type AskEnd = EventOf<'ask_answered' | 'ask_timed_out'>;

/** An answer as a scenario has it: a text, or a text with files. */
type RecordedAsk = string | { readonly text: string; readonly files: Readonly<Record<string, string>> };

/** The answers in a run, as `asks` of a scenario: a list for each state, or for each agent in it if there are several. */
export function recordAsks(
  events: readonly Event[],
  context: Pick<RecordingContext, 'scrub' | 'addNote'>,
): { readonly asks?: Readonly<Record<string, readonly (RecordedAsk | null)[]>> } {
  // A scenario has no interruptions, and so nobody asks how to continue after one.
  const brokenOff = new Set(
    events.flatMap((event) =>
      event.kind === 'turn_ended' && event.failure === 'broken_off'
        ? [askIdOf({ id: event.agent, turns: event.turn })]
        : [],
    ),
  );
  const ends = events
    .filter((event): event is AskEnd => event.kind === 'ask_answered' || event.kind === 'ask_timed_out')
    .filter(({ ask }) => !brokenOff.has(ask));
  if (ends.length === 0) return {};
  const asked = new Map(
    events.filter((event) => event.kind === 'asked').map((event) => [event.ask, event.taskFolder] as const),
  );
  const agentsByState = new Map<string, Set<string>>();
  for (const { agent, state } of ends)
    agentsByState.set(state, (agentsByState.get(state) ?? new Set<string>()).add(agent));
  const asks: Record<string, (RecordedAsk | null)[]> = {};
  for (const end of ends) {
    const { agent, state } = end;
    const key = agentsByState.get(state)?.size === 1 ? state : `${agent}/${state}`;
    const answers = asks[key] ?? [];
    asks[key] = answers;
    answers.push(end.kind === 'ask_answered' ? recordAnswer(end, asked.get(end.ask) ?? null, context) : null);
  }
  return { asks };
}

function recordAnswer(
  { agent, ask, text, files }: EventOf<'ask_answered'>,
  taskFolder: string | null,
  { scrub, addNote }: Pick<RecordingContext, 'scrub' | 'addNote'>,
): RecordedAsk {
  const recorded: Record<string, string> = {};
  for (const name of files) {
    const content = readTextFile(taskFolder === null ? null : join(taskFolder, ASKS_FOLDER, ask, name));
    if ('text' in content) recorded[name] = scrub(agent, content.text);
    else addNote(`The file ${name} that came with the answer to ${ask} is not recorded: ${content.problem}.`);
  }
  const answer = scrub(agent, text);
  return Object.keys(recorded).length === 0 ? answer : { text: answer, files: recorded };
}

/** More than this would make a scenario unreadable. */
const MAX_FILE_BYTES = 100_000;

/** Reads a file that a scenario can hold; the problem otherwise. */
function readTextFile(path: string | null): { readonly text: string } | { readonly problem: string } {
  if (path === null) return { problem: 'its run has no folders for files' };
  try {
    if (statSync(path).size > MAX_FILE_BYTES) return { problem: `it has more than ${MAX_FILE_BYTES} bytes` };
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path)) };
  } catch (error) {
    return { problem: error instanceof TypeError ? 'it is no text' : errorMessageOf(error) };
  }
}
