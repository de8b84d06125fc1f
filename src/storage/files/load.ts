import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { applyInPlace, type Draft } from '../../core/run/change.ts';
import { runIdProblem } from '../../core/run/ids.ts';
import { diskError, readRegularFile, withFile } from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../../errors.ts';
import { newLineSplitter } from '../../process/lines.ts';
import {
  brokenLineError,
  isLineStart,
  type JournalEntry,
  parseEntry,
  readJournal,
  readJournalLines,
} from '../journal-lines.ts';
import { noSuchRunError } from '../opened-run.ts';
import {
  checkLine,
  DamagedRunFile,
  type JournalCoverage,
  type JournalPosition,
  type LoadedRun,
  type RunFileProblem,
} from '../run-file.ts';

/** How a run is loaded. */
interface LoadOptions {
  /** True to cut off an incomplete step that a crash left behind, which only the owner may; everyone else skips it. */
  readonly cut: boolean;
  /** True to continue with a journal that has lost lines which the state file includes. */
  readonly acceptLoss?: boolean;
}

/** Loads a run as of its last complete step: its state file and the steps of the journal after it. */
export async function loadRun(
  layout: FolderLayout,
  id: string,
  { cut, acceptLoss = false }: LoadOptions,
): Promise<LoadedRun> {
  const saved = await loadSnapshot(layout, id);
  const file = layout.journalFile(id);
  try {
    const { size } = statSync(file);
    if (!cut && size === saved.journal.offset) return saved;
    const isShort = size < saved.journal.offset;
    const loaded =
      isShort && acceptLoss
        ? await coverRest(saved, file)
        : await replayJournal(saved, file, layout.stateFile(id), isShort);
    if (cut) await truncateAt(file, loaded.journal);
    return loaded;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return saved;
    throw unreadableFileError(file, error);
  }
}

/** Loads the state file of a run, which may be some steps behind the journal; without a whole one, the run as it began. */
export async function loadSnapshot(layout: FolderLayout, id: string): Promise<LoadedRun> {
  const file = layout.stateFile(id);
  if (runIdProblem(id) !== undefined) throw noSuchRunError(id);
  // Loaded here, because a run that is started anew needs none of it.
  const { parseSavedRun } = await import('../run-schema.ts');
  try {
    return { ...parseSavedRun(readRegularFile(file), file), stateFileProblem: null };
  } catch (error) {
    const isMissing = errorCodeOf(error) === 'ENOENT';
    if (!isMissing && !(error instanceof DamagedRunFile)) throw unreadableFileError(file, error);
    const rebuilt = await readRunStart(layout, id, isMissing ? 'missing' : 'damaged');
    if (rebuilt !== undefined) return rebuilt;
    throw isMissing ? noSuchRunError(id) : error;
  }
}

/** Explains why a file cannot be read. Its content may be anything, so also what goes wrong while it is parsed. */
export function unreadableFileError(file: string, error: unknown): RaymondError {
  if (error instanceof RaymondError) return error;
  if (errorCodeOf(error) === '') return new DamagedRunFile(file, errorMessageOf(error), error);
  return diskError(`${file} cannot be read`, error, 'then try again.');
}

/** A run whose journal is shorter than what its state file includes: only the history of the lost steps is gone. */
async function coverRest(saved: LoadedRun, file: string): Promise<LoadedRun> {
  let offset = 0;
  for await (const lines of readJournalLines(file, 0)) for (const { end, ended } of lines) if (ended) offset = end;
  const { checkedFrom } = saved.journal;
  const position = { offset, checkedFrom: checkedFrom === null ? null : Math.min(checkedFrom, offset) };
  return { ...saved, journal: { ...saved.journal, ...position } };
}

async function replayJournal(saved: LoadedRun, file: string, stateFile: string, isShort: boolean): Promise<LoadedRun> {
  const { seq, offset, checkedFrom } = saved.journal;
  if (!(await isLineStart(file, offset))) {
    throw new RaymondError(`${file} is not whole: ${stateFile} covers its first ${offset} bytes, up to step ${seq}.`, {
      exitCode: EXIT.invalid,
      hint: `Both files were left untouched. Bring the journal back as it was; or continue without the lost part of its history: ${
        isShort ? '`resume --retry`' : 'move it away'
      }.`,
    });
  }
  // The schema has made a copy, so this run may be changed in place.
  const draft = saved.run as Draft;
  let { offset: end, owner } = saved.journal;
  for await (const entries of readJournal(file, saved.journal)) {
    for (const entry of entries) {
      const mismatch = tryApply(draft, entry);
      if (mismatch !== undefined) throw await brokenLineError(file, entry.start, mismatch);
      ({ end, owner } = entry);
    }
  }
  const { validateRun } = await import('../run-schema.ts');
  const run = end === offset ? saved.run : validateRun(draft, `${stateFile} with ${file}`);
  return { ...saved, run, journal: { seq: run.seq, offset: end, owner, checkedFrom } };
}

function tryApply(draft: Draft, { change }: JournalEntry): string | undefined {
  try {
    applyInPlace(draft, change);
    return undefined;
  } catch (error) {
    return errorMessageOf(error);
  }
}

async function truncateAt(file: string, { offset }: JournalPosition): Promise<void> {
  await withFile(file, 'r+', async (handle) => {
    const { size } = await handle.stat();
    if (size === offset) return;
    await handle.truncate(offset);
    await handle.datasync();
  });
}

/**
 * The run as it began, from the first line of its journal, for want of a state file: the rest of the journal makes of it the
 * run as it stands. Undefined if there is no journal; throws if the journal does not tell.
 */
export async function readRunStart(
  layout: FolderLayout,
  id: string,
  problem: RunFileProblem,
): Promise<LoadedRun | undefined> {
  const file = layout.journalFile(id);
  const line = await readFirstLine(file);
  if (line === undefined) return undefined;
  const entry = parseEntry(line, false);
  const stateFile = `${layout.stateFile(id)} is ${problem}, and ${file}`;
  if (typeof entry !== 'object') throw unknownStartError(`${stateFile} cannot replace it: its first line is broken.`);
  const { change, owner, end } = entry;
  if (change.start === undefined) throw unknownStartError(`${stateFile} does not say how the run began.`);
  const { parseRunStart } = await import('../run-schema.ts');
  const start = parseRunStart(change.start, file);
  const journal = { seq: start.run.seq, offset: end, owner, checkedFrom: 0 };
  return { ...start, journal, doubtful: [], stateFileProblem: problem };
}

async function readFirstLine(file: string): Promise<Parameters<typeof parseEntry>[0] | undefined> {
  try {
    for await (const [line] of readJournalLines(file, 0)) if (line !== undefined) return line;
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error))) throw error;
  }
  return undefined;
}

const unknownStartError = (message: string): RaymondError =>
  new RaymondError(message, {
    exitCode: EXIT.invalid,
    hint: 'Nothing was touched. Bring the state file back, say from a backup, or start a new run.',
  });

/** Says that a run had to be rebuilt from its journal; nothing if its state file is whole. */
export const describeRunFileProblem = (id: string, problem: RunFileProblem | null): readonly string[] =>
  problem === null
    ? []
    : [`The state file of ${id} is ${problem}: the run is read from its journal, and a resume writes the file again.`];

/**
 * Looks for lines of a journal that are not as they were written, where the state file covers them: there nothing else
 * reads them. The run can continue without them, but its history cannot be told.
 */
export async function findJournalDamage(
  id: string,
  file: string,
  { offset, checkedFrom }: JournalCoverage,
): Promise<readonly string[]> {
  const describe = (what: string): readonly string[] => [
    `The journal of ${id} is damaged: ${what} The run itself is whole and can continue; its logs and costs are not.`,
  ];
  try {
    const broken = findBrokenLine(file, offset, checkedFrom ?? offset);
    return broken === undefined ? [] : describe((await brokenLineError(file, broken.start, broken.why)).message);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return offset === 0 ? [] : describe(`${file} is missing.`);
    throw error;
  }
}

/** Synchronous, because it checks over a gigabyte in a second, and the way through the thread pool would take longer. */
function findBrokenLine(file: string, end: number, checkedFrom: number): { start: number; why: string } | undefined {
  const descriptor = openSync(file, 'r');
  const splitter = newLineSplitter();
  try {
    let start = 0;
    for (let offset = 0; offset < end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - offset));
      const length = readSync(descriptor, buffer, 0, buffer.length, offset);
      if (length === 0) break;
      offset += length;
      for (const line of splitter.push(buffer.subarray(0, length))) {
        const checksum = checkLine(line);
        if (checksum === 'wrong') return { start, why: 'its checksum does not match' };
        if (checksum === 'none' && start >= checkedFrom) return { start, why: 'its checksum is missing' };
        start += line.length + 1;
      }
    }
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

const CHUNK_BYTES = 1024 * 1024;
