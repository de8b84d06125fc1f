import type { FolderLayout } from '../../disk/layout.ts';
import { EXIT, errorCodeOf, RaymondError } from '../../errors.ts';
import { parseEntry, readJournalLines } from '../journal-lines.ts';
import type { LoadedRun, RunFileProblem } from '../saved-run.ts';

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
