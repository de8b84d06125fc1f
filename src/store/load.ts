import { readFileSync, statSync } from 'node:fs';
import { runIdProblem } from '../core/ids.ts';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { applyInPlace, type Draft } from './change.ts';
import { diskProblem } from './disk-problem.ts';
import { withFile } from './files.ts';
import { brokenLine, type Entry, readJournal } from './journal-lines.ts';
import type { Layout } from './layout.ts';
import { isLineStart } from './lines.ts';
import { checkRun, type JournalMark, type SavedRun, savedFromText } from './state-file.ts';

/**
 * A run as of its last whole step: its state file and what the journal says after it. Only the run's owner may `cut`
 * off what is left of a step that was being written when the lights went out; everybody else passes over it.
 */
export async function loadRun(layout: Layout, id: string, { cut }: { readonly cut: boolean }): Promise<SavedRun> {
  const saved = await loadSnapshot(layout, id);
  const file = layout.journal(id);
  try {
    if (!cut && statSync(file).size === saved.journal.offset) return saved;
    const loaded = await replay(saved, file, layout.state(id));
    if (cut) await cutAt(file, loaded.journal);
    return loaded;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return saved;
    throw unreadable(file, error);
  }
}

/** What the state file of a run says, which may be some steps behind. */
export async function loadSnapshot(layout: Layout, id: string): Promise<SavedRun> {
  const file = layout.state(id);
  if (runIdProblem(id) !== undefined) throw noSuchRun(id);
  return savedFromText(readState(file, id), file);
}

/** Read at once: to have it read in the background takes many times as long, and a list reads a thousand of them. */
function readState(file: string, id: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw noSuchRun(id);
    throw unreadable(file, cause);
  }
}

/** The refusal of a run that nobody knows; `meant` and the hint may help. */
export const noSuchRun = (id: string, meant = '', hint = '`raymond list` shows the runs there are.'): RaymondError =>
  new RaymondError(`no such run: ${id}${meant}`, { exitCode: EXIT.usage, hint });

/** What the file system had against reading a file, in words; any other error as it is. */
export const unreadable = (file: string, error: unknown): unknown =>
  codeOf(error) === '' ? error : diskProblem(`${file} cannot be read`, error, 'then try again.');

async function replay(saved: SavedRun, file: string, stateFile: string): Promise<SavedRun> {
  const { seq, offset } = saved.journal;
  if (!(await isLineStart(file, offset))) {
    throw new RaymondError(`${file} is not whole: ${stateFile} covers its first ${offset} bytes, up to step ${seq}.`, {
      exitCode: EXIT.invalid,
      hint: 'Both files were left untouched. Bring the journal back as it was, or move it away to go on without it.',
    });
  }
  // The schema made a copy of all it read: this run is ours to change.
  const draft = saved.run as Draft;
  let end = offset;
  for await (const entries of readJournal(file, offset)) {
    for (const entry of entries) {
      const wrong = apply(draft, entry);
      if (wrong !== undefined) throw await brokenLine(file, entry.start, wrong);
      end = entry.end;
    }
  }
  const run = end === offset ? saved.run : checkRun(draft, `${stateFile} with ${file}`);
  return { run, journal: { seq: run.seq, offset: end } };
}

function apply(draft: Draft, { change }: Entry): string | undefined {
  try {
    applyInPlace(draft, change);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function cutAt(file: string, { offset }: JournalMark): Promise<void> {
  await withFile(file, 'r+', async (handle) => {
    const { size } = await handle.stat();
    if (size === offset) return;
    await handle.truncate(offset);
    await handle.datasync();
  });
}
