import { readRegularFile, statIfAllowed } from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { errorCodeOf } from '../../errors.ts';
import { readLinesBackwards } from '../../process/lines.ts';
import { watchFile } from '../../process/watch.ts';
import {
  brokenLineError,
  isLineStart,
  type JournalEntry,
  type JournalLine,
  type JournalStart,
  parseEntry,
  readJournal,
  readJournalLines,
} from '../journal-lines.ts';
import { checkLine, type JournalEnd, type JournalPosition } from '../run-file.ts';
import { JOURNAL_START, type JournaledStep, type JournalReader } from '../storage.ts';
import { loadSnapshot, unreadableFileError } from './load.ts';

/** How often a follower looks at a journal of whose changes the system may not tell. */
const POLL_INTERVAL_MS = 500;

/** Creates the reader of the journals in the files of a layout. */
export function createFileJournal(layout: FolderLayout): JournalReader {
  return {
    async *read(run, after = JOURNAL_START) {
      const start = await findStart(layout, run, after);
      yield* readSteps(layout.journalFile(run), after.seq, start);
    },
    async *readBackwards(run) {
      const file = layout.journalFile(run);
      try {
        const { checkedFrom } = await findStart(layout, run, JOURNAL_START);
        yield* readStepsBackwards(file, checkedFrom);
      } catch (error) {
        if (errorCodeOf(error) !== 'ENOENT') throw unreadableFileError(file, error);
      }
    },
    async *follow(run, after, stop) {
      const file = layout.journalFile(run);
      const watch = watchFile(file, POLL_INTERVAL_MS);
      stop.addEventListener('abort', watch.wake);
      try {
        let start = await findStart(layout, run, after);
        for (let { seq } = after; ; ) {
          // Read before the journal, so that what was written before the stop is in it.
          const isLast = stop.aborted;
          for await (const step of readSteps(file, seq, start)) {
            seq = step.seq;
            start = { ...start, offset: step.offset, owner: step.owner };
            yield step;
          }
          if (isLast) return;
          await watch.next();
        }
      } finally {
        stop.removeEventListener('abort', watch.wake);
        watch.close();
      }
    },
    async has(run, { seq, offset }) {
      const line = offset === 0 ? undefined : await readLineBefore(layout.journalFile(run), offset);
      const entry = line && parseEntry(line, false);
      return typeof entry === 'object' && entry.change.seq === seq;
    },
    async readSummary(run) {
      try {
        return readRegularFile(layout.historyFile(run));
      } catch {
        return null;
      }
    },
  };
}

/**
 * The byte to begin at, and what is known about the lines from there on. What the state file includes is skipped if only the step
 * is known. Otherwise the state file is read only for a journal whose lines had no checksums at first: it takes longer than most journals.
 */
async function findStart(layout: FolderLayout, run: string, { seq, offset }: JournalPosition): Promise<JournalStart> {
  const file = layout.journalFile(run);
  const line = seq < 0 || offset > 0 ? await readLineAt(file, offset) : undefined;
  if (line?.checksum === 'right') return { offset, owner: offset === 0 ? 0 : ownerOf(line), checkedFrom: line.start };
  const covered = (await loadSnapshot(layout, run)).journal;
  if (offset === 0 && seq >= covered.seq) return covered;
  return { offset, owner: offset === 0 || line === undefined ? 0 : ownerOf(line), checkedFrom: covered.checkedFrom };
}

/** The first line; otherwise the one that ends at a byte. Undefined if there is none. */
async function readLineAt(file: string, offset: number): Promise<JournalLine | undefined> {
  if (offset > 0) return readLineBefore(file, offset);
  try {
    for await (const [line] of readJournalLines(file, 0)) if (line !== undefined) return line;
  } catch (error) {
    // The state file tells whether there is such a run at all.
    if (!['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error))) throw unreadableFileError(file, error);
  }
  return undefined;
}

function ownerOf(line: JournalLine): number {
  const entry = parseEntry(line, false);
  return typeof entry === 'object' ? entry.owner : 0;
}

/** A step, and the number of the owner that wrote it. */
type OwnedStep = JournaledStep & JournalEnd;

async function* readSteps(file: string, afterSeq: number, start: JournalStart): AsyncGenerator<OwnedStep> {
  try {
    for await (const entries of readJournal(file, start))
      for (const entry of entries) if (entry.change.seq > afterSeq) yield toStep(entry);
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw unreadableFileError(file, error);
  }
}

const toStep = ({ change, owner, end }: JournalEntry): OwnedStep => ({ seq: change.seq, offset: end, owner, change });

/** The line that ends at a byte; undefined if none does. */
async function readLineBefore(file: string, offset: number): Promise<JournalLine | undefined> {
  if (offset > (statIfAllowed(file)?.size ?? 0) || !(await isLineStart(file, offset))) return undefined;
  for await (const line of readLinesBackwards(file, offset - 1)) return locate(line, offset - 1 - line.length);
  return undefined;
}

const locate = (line: Buffer, start: number): JournalLine => ({
  text: line.toString(),
  start,
  end: start + line.length + 1,
  ended: true,
  checksum: checkLine(line),
});

/**
 * An owner that was taken over may have written a few lines after the first of the new owner, which do not count. A reader of
 * forwards knows the new owner by then; reading backwards looks at this many lines before a line for one of a later owner.
 */
const LINES_BEFORE = 32;

async function* readStepsBackwards(file: string, checkedFrom: number | null): AsyncGenerator<JournaledStep> {
  const { size } = statIfAllowed(file) ?? { size: 0 };
  let end = size;
  const waiting: { readonly line: JournalLine; readonly entry: JournalEntry | string | undefined }[] = [];
  const take = async (): Promise<JournaledStep | null> => {
    const first = waiting.shift();
    if (first === undefined) return null;
    const { line, entry } = first;
    if (typeof entry !== 'object') throw await brokenLineError(file, line.start, entry ?? 'it is not JSON');
    const isLate = waiting.some((each) => typeof each.entry === 'object' && each.entry.owner > entry.owner);
    return isLate ? null : toStep(entry);
  };
  let isTail = true;
  for await (const bytes of readLinesBackwards(file, size)) {
    const start = end - bytes.length;
    const line = locate(bytes, start);
    end = start - 1;
    // Bytes after the last line feed are being written, or were cut off.
    if (isTail) {
      isTail = false;
      continue;
    }
    const entry = parseEntry(line, checkedFrom !== null && start >= checkedFrom);
    // A power cut may have left the last line incomplete.
    if (entry === undefined && waiting.length === 0 && line.end === size) continue;
    waiting.push({ line, entry });
    const step = waiting.length > LINES_BEFORE ? await take() : null;
    if (step !== null) yield step;
  }
  while (waiting.length > 0) {
    const step = await take();
    if (step !== null) yield step;
  }
}
