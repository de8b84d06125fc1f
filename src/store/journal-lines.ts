import { tryParseJson } from '../core/json.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { newLineSplitter, readChunks } from '../process/lines.ts';
import type { Change } from './change.ts';
import { withFile } from './files.ts';

/** A step in the journal, and the byte range of its line. */
export interface JournalEntry {
  readonly change: Change;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the steps of a journal from a byte offset on, in batches as the file is read. An incomplete last line is
 * skipped: it is being written right now, or was when the owner died. An incomplete line elsewhere is an error.
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

/** The error for a journal with a line that cannot be right. */
export async function brokenLineError(file: string, start: number, why: string): Promise<RaymondError> {
  return new RaymondError(`${file}:${await lineNumberAt(file, start)}: this line of the journal is broken: ${why}.`, {
    exitCode: EXIT.invalid,
    hint: 'Nothing was touched. Bring the file back as it was, say from a backup, or start a new run.',
  });
}

/** Checks only what applying a change relies on; the resulting run is validated as a whole. */
const isChange = (data: unknown): data is Change =>
  isObject(data) &&
  Number.isSafeInteger(data.seq) &&
  isObject(data.head) &&
  Array.isArray(data.agents) &&
  data.agents.every((agent) => isObject(agent) && isObject(agent.set) && isObject(agent.visits)) &&
  Array.isArray(data.events);

const isObject = (data: unknown): data is Record<string, unknown> => typeof data === 'object' && data !== null;

/** A line and its byte range. One that is not `ended` has no line feed: it is still being written, or was cut off. */
export interface JournalLine {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly ended: boolean;
}

/** Reads the lines of a file from a byte offset on, in batches as the file is read. */
export async function* readJournalLines(file: string, from: number): AsyncGenerator<readonly JournalLine[]> {
  const splitter = newLineSplitter();
  let start = from;
  const locate = (line: Buffer, ended: boolean): JournalLine => {
    const end = start + line.length + (ended ? 1 : 0);
    const located = { text: line.toString(), start, end, ended };
    start = end;
    return located;
  };
  for await (const chunk of readChunks(file, from)) yield splitter.push(chunk).map((line) => locate(line, true));
  for (const line of splitter.rest()) yield [locate(line, false)];
}

/** The number, from 1, of the line that begins at a byte offset. */
async function lineNumberAt(file: string, offset: number): Promise<number> {
  let number = 1;
  for await (const lines of readJournalLines(file, 0)) {
    for (const { end, ended } of lines) if (ended && end <= offset) number++;
  }
  return number;
}

/** Whether a line begins at this byte offset. */
export async function isLineStart(file: string, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  return withFile(file, 'r', async (handle) => {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, offset - 1);
    return bytesRead === 1 && buffer[0] === 0x0a;
  });
}
