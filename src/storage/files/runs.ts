import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { runIdProblem } from '../../core/run/ids.ts';
import { diskError, statIfAllowed } from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { errorCodeOf, RaymondError } from '../../errors.ts';
import { identifyThisProcess, type ProcessIdentity } from '../../process/identity.ts';
import type { JournalCoverage } from '../run-file.ts';
import { type RunSummary, resolveReference, toRunSummary, type UnreadableRun } from '../run-summary.ts';
import { loadSnapshot } from './load.ts';
import { observeRun } from './observed-run.ts';
import { hasOwner, ownerOf } from './owner.ts';

/** The ids of all runs, sorted: those with a state file, and those with nothing but a journal. */
export async function listRunIds(layout: FolderLayout): Promise<readonly string[]> {
  const [states, folders] = await Promise.all([namesIn(layout.stateFolder), namesIn(layout.runsFolder)]);
  const stateFiles = new Set(states);
  const isOnlyJournal = (id: string): boolean =>
    !stateFiles.has(`${id}.json`) &&
    !stateFiles.has(basename(layout.prunedFile(id))) &&
    runIdProblem(id) === undefined &&
    hasJournal(layout, id);
  const ids = states.flatMap((name) => name.match(/^([A-Za-z0-9_-]+)\.json$/)?.[1] ?? []);
  return [...ids, ...folders.filter(isOnlyJournal)].sort();
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw diskError(`${folder} cannot be read`, error, 'then try again.');
  });
}

/** An empty journal was left by a process that died before there was a run. */
const hasJournal = (layout: FolderLayout, id: string): boolean =>
  (statIfAllowed(layout.journalFile(id))?.size ?? 0) > 0;

/** Finds the run that a user refers to by its id, a unique prefix of it, or `last`. */
export const resolveRunId = async (layout: FolderLayout, reference: string): Promise<string> =>
  resolveReference(reference, await listRunIds(layout), layout.root, (ids) => findLatestRunId(layout, ids));

/** The run that was started last; an unreadable one only if there is no other. */
async function findLatestRunId(layout: FolderLayout, ids: readonly string[]): Promise<string> {
  let last = { id: ids.at(-1) ?? 'last', startedAt: -1 };
  for (const id of ids) {
    const startedAt = await loadSnapshot(layout, id).then(
      ({ run }) => run.startedAt,
      () => -1,
    );
    if (startedAt > last.startedAt || (startedAt === last.startedAt && id > last.id)) last = { id, startedAt };
  }
  return last.id;
}

/** Reading a run is mostly synchronous, so the event loop gets its turn after this many. */
const RUNS_PER_TICK = 50;

/** A run in a list, and the part of its journal that counts; null if it cannot be read. */
export interface SummarizedRun {
  readonly entry: RunSummary | UnreadableRun;
  readonly journal: JournalCoverage | null;
}

/**
 * Finds the runs that have lost their process. Quick even among thousands: only a run with an owner on record that is gone can
 * be one, so no more is read of the others. A run without that record is found only by a list.
 */
export async function findCrashedRunIds(layout: FolderLayout): Promise<readonly string[]> {
  const here = await identifyThisProcess();
  const crashed: string[] = [];
  for (const [at, id] of (await listRunIds(layout)).entries()) {
    if (at % RUNS_PER_TICK === 0) await yieldToEventLoop();
    const folder = layout.runFolder(id);
    if (!hasOwner(folder) || (await ownerOf(folder, here))?.state !== 'gone') continue;
    const { entry } = await summarizeRun(layout, id, here);
    if (entry.kind === 'run' && entry.observedStatus === 'crashed') crashed.push(id);
  }
  return crashed;
}

/** Summarizes a run for a list; one that cannot be read says why. */
export async function summarizeRun(layout: FolderLayout, id: string, here: ProcessIdentity): Promise<SummarizedRun> {
  try {
    const observed = await observeRun(layout, id, here);
    return { entry: toRunSummary(observed), journal: observed.journal };
  } catch (error) {
    if (error instanceof RaymondError) return { entry: { kind: 'unreadable', id, error }, journal: null };
    throw error;
  }
}
