import { statSync } from 'node:fs';
import { applyInPlace, type Draft } from '../../core/run/change.ts';
import { runIdProblem } from '../../core/run/ids.ts';
import { diskError } from '../../disk/disk-error.ts';
import { readRegularFile, withFile } from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../../errors.ts';
import { brokenLineError, isLineStart, type JournalEntry, readJournal, readJournalLines } from '../journal-lines.ts';
import { noSuchRunError } from '../opened-run.ts';
import type { JournalPosition, LoadedRun } from '../saved-run.ts';
import { DamagedRunFile } from '../versioned-json.ts';
import { readRunStart } from './rebuild.ts';

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
