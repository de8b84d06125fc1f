import { readFileSync, statSync } from 'node:fs';
import { runIdProblem } from '../core/ids.ts';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../errors.ts';
import { applyInPlace, type Draft } from './change.ts';
import { diskError } from './disk-error.ts';
import { withFile } from './files.ts';
import { brokenLineError, isLineStart, type JournalEntry, readJournal, readJournalLines } from './journal-lines.ts';
import type { StoreLayout } from './layout.ts';
import { readRunStart } from './rebuild.ts';
import type { JournalPosition, LoadedRun } from './saved-run.ts';
import { DamagedStateFile } from './versioned-json.ts';

/** How a run is loaded. */
interface LoadOptions {
  /** Whether to cut off an incomplete step that a crash left behind, which only the owner may; everyone else skips it. */
  readonly cut: boolean;
  /** Whether to go on with a journal that has lost lines which the state file includes. */
  readonly acceptLoss?: boolean;
}

/** Loads a run as of its last complete step: its state file and the steps of the journal after it. */
export async function loadRun(
  layout: StoreLayout,
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
export async function loadSnapshot(layout: StoreLayout, id: string): Promise<LoadedRun> {
  const file = layout.stateFile(id);
  if (runIdProblem(id) !== undefined) throw noSuchRunError(id);
  // Loaded here, because a run that is started anew needs none of it.
  const { parseSavedRun } = await import('./state-file.ts');
  try {
    return { ...parseSavedRun(readFileSync(file, 'utf8'), file), stateFileProblem: null };
  } catch (error) {
    const isMissing = errorCodeOf(error) === 'ENOENT';
    if (!isMissing && !(error instanceof DamagedStateFile)) throw unreadableFileError(file, error);
    const rebuilt = await readRunStart(layout, id, isMissing ? 'missing' : 'damaged');
    if (rebuilt !== undefined) return rebuilt;
    throw isMissing ? noSuchRunError(id) : error;
  }
}

/** The error for a run that does not exist, with a suggestion and a hint. */
export const noSuchRunError = (
  id: string,
  suggestion = '',
  hint = '`raymond list` shows the runs there are.',
): RaymondError => new RaymondError(`no such run: ${id}${suggestion}`, { exitCode: EXIT.usage, hint });

/** Explains an error of the file system; any other error is returned as it is. */
export const unreadableFileError = (file: string, error: unknown): unknown =>
  errorCodeOf(error) === '' ? error : diskError(`${file} cannot be read`, error, 'then try again.');

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
      hint: `Both files were left untouched. Bring the journal back as it was; or go on without the lost part of its history: ${
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
  const { validateRun } = await import('./state-file.ts');
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
