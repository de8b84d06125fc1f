import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../core/run/event.ts';
import { errorMessageOf } from '../../errors.ts';
import { ASKS_FOLDER, askIdOf } from '../../language/ask.ts';
import type { RecordingContext } from './answers.ts';

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
