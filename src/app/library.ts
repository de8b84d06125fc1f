import { listUnfinishedFirst, type RunListEntry } from './list-runs.ts';
import { openFileStorage } from './open-files.ts';
import { readRunStatus, type StatusReport, type StatusRequest } from './status.ts';

/** Lists all runs of a folder, and what of their files is damaged: the unfinished first, then the latest first; unreadable ones are last. */
export const listRuns = (cwd = process.cwd()): Promise<readonly RunListEntry[]> =>
  listUnfinishedFirst(openFileStorage(cwd, process.env));

/** Reads the status of a run of a folder, given by its id, a unique beginning of it, or `last`. Another process may be driving it. */
export const getStatus = (runRef: string, cwd = process.cwd(), request: StatusRequest = {}): Promise<StatusReport> =>
  readRunStatus(runRef, openFileStorage(cwd, process.env), request);
