import type { Change } from '../core/run/change.ts';
import { RUN_VERSION } from '../core/run/run.ts';
import { requireRegularFile, withFile } from '../disk/files.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { tryParseJson } from '../language/text/json.ts';
import { newLineSplitter, readChunks } from '../process/lines.ts';
import { addLineChecksum, type ChecksumState, checkLine } from './checksum.ts';
import { upgradeChange } from './migrations.ts';

/** A step in the journal, the number of the owner that wrote it, and the byte range of its line. */
export interface JournalEntry {
  readonly change: Change;
  readonly owner: number;
  readonly start: number;
  readonly end: number;
}

/** The line of a step, with its line feed. */
export const formatJournalLine = (change: Change, owner: number): string =>
  `${addLineChecksum(JSON.stringify({ v: RUN_VERSION, ...change, owner }))}\n`;

/** Where to begin to read a journal, and what is known about its lines: see `JournalCoverage`. */
export interface JournalStart {
  readonly offset: number;
  readonly owner: number;
  readonly checkedFrom: number | null;
}

/**
 * Reads the steps of a journal from a byte offset on, in batches as the file is read.
 *
 * 1. An incomplete last line is skipped: it is being written right now, or was when the owner died. An incomplete line
 *    elsewhere is an error, and so is a complete one that is not as it was written.
 * 2. A line of an owner after the first one of a later owner is skipped: its run had been taken over.
 */
export async function* readJournal(
  file: string,
  { offset, owner, checkedFrom }: JournalStart,
): AsyncGenerator<readonly JournalEntry[]> {
  let torn: JournalLine | undefined;
  let highestOwner = owner;
  for await (const lines of readJournalLines(file, offset)) {
    const entries: JournalEntry[] = [];
    for (const line of lines) {
      if (torn !== undefined) throw await brokenLineError(file, torn.start, 'it is not JSON');
      const entry = parseEntry(line, checkedFrom !== null && line.start >= checkedFrom);
      if (entry === undefined) torn = line;
      else if (typeof entry === 'string') throw await brokenLineError(file, line.start, entry);
      else if (entry.owner >= highestOwner) {
        highestOwner = entry.owner;
        entries.push(entry);
      }
    }
    yield entries;
  }
}

/** The step of a line, upgraded to the current version; undefined if the line is incomplete, a reason if it cannot be right. */
export function parseEntry(line: JournalLine, isChecked: boolean): JournalEntry | string | undefined {
  const { text, start, end, ended, checksum } = line;
  if (!ended) return undefined;
  if (checksum === 'wrong') return hasGap(text) ? undefined : 'its checksum does not match';
  const data = tryParseJson(text);
  if (data === undefined) return undefined;
  if (isChecked && checksum === 'none') return 'its checksum is missing';
  if (!isChange(data)) return 'it is not a step';
  const { owner = 0, v } = data as { readonly owner?: unknown; readonly v?: unknown };
  if (typeof owner !== 'number') return 'it is not a step';
  if (v === RUN_VERSION) return { change: data, owner, start, end };
  if (v !== undefined && v !== FIRST_LINE_VERSION)
    return `it has version ${JSON.stringify(v)}, which this Raymond does not read`;
  return { change: upgradeChange(data, v), owner, start, end };
}

/** The first version whose lines say which they have. */
const FIRST_LINE_VERSION = 5;

/** A power cut may leave zeros in the place of what did not reach the disk. */
const hasGap = (text: string): boolean => text.includes('\0\0');

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
  (data.archived === undefined || Array.isArray(data.archived)) &&
  Array.isArray(data.events) &&
  data.events.every(isObject);

const isObject = (data: unknown): data is Record<string, unknown> => typeof data === 'object' && data !== null;

/** A line and its byte range. One that is not `ended` has no line feed: it is still being written, or was cut off. */
export interface JournalLine {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly ended: boolean;
  readonly checksum: ChecksumState;
}

/** Reads the lines of a file from a byte offset on, in batches as the file is read. */
export async function* readJournalLines(file: string, from: number): AsyncGenerator<readonly JournalLine[]> {
  requireRegularFile(file);
  const splitter = newLineSplitter();
  let start = from;
  const locate = (line: Buffer, ended: boolean): JournalLine => {
    const end = start + line.length + (ended ? 1 : 0);
    const located = { text: line.toString(), start, end, ended, checksum: checkLine(line) };
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

/** True if a line begins at this byte offset. */
export async function isLineStart(file: string, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  requireRegularFile(file);
  return withFile(file, 'r', async (handle) => {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, offset - 1);
    return bytesRead === 1 && buffer[0] === 0x0a;
  });
}
