import { addStateChecksum } from './checksum.ts';
import type { SavedRun } from './saved-run.ts';

/** Serializes a state file. */
export const serializeSavedRun = ({ run, journal, mark, bootId, doubtful }: SavedRun): string =>
  addStateChecksum(JSON.stringify({ ...run, journal, mark, bootId, doubtful }, null, 2));
