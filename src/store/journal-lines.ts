import { EXIT, RaymondError } from '../errors.ts';
import type { Change } from './change.ts';
import { type JournalLine, lineNumberAt, readJournalLines } from './lines.ts';

/** A step as the journal has it, and where its line lies. */
export interface JournalEntry {
  readonly change: Change;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the steps of a journal from a byte on, as many at a time as come with one read. A last line that is not whole
 * is passed over: it is being written right now, or was when its owner died. Anywhere else it is a fault.
 */
export async function* readJournal(file: string, from: number): AsyncGenerator<readonly JournalEntry[]> {
  let torn: JournalLine | undefined;
  for await (const lines of readJournalLines(file, from)) {
    const entries: JournalEntry[] = [];
    for (const line of lines) {
      if (torn !== undefined) throw await brokenLineError(file, torn.start, 'it is not JSON');
      const data = line.ended ? tryParseJson(line.text) : undefined;
      if (data === undefined) torn = line;
      else if (isChange(data)) entries.push({ change: data, start: line.start, end: line.end });
      else throw await brokenLineError(file, line.start, 'it is not a step');
    }
    yield entries;
  }
}

/** The refusal of a journal with a line in it that cannot be. */
export async function brokenLineError(file: string, start: number, why: string): Promise<RaymondError> {
  return new RaymondError(`${file}:${await lineNumberAt(file, start)}: this line of the journal is broken: ${why}.`, {
    exitCode: EXIT.invalid,
    hint: 'Nothing was touched. Bring the file back as it was, say from a backup, or start a new run.',
  });
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Only as much as applying it relies on; the run that comes of it is checked as a whole. */
const isChange = (data: unknown): data is Change =>
  isObject(data) &&
  Number.isSafeInteger(data.seq) &&
  isObject(data.head) &&
  Array.isArray(data.agents) &&
  data.agents.every((agent) => isObject(agent) && isObject(agent.set) && isObject(agent.visits)) &&
  Array.isArray(data.events);

const isObject = (data: unknown): data is Record<string, unknown> => typeof data === 'object' && data !== null;
