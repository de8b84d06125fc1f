import { existsSync, readdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import { diskError } from './disk-error.ts';
import { PRIVATE_FILE_MODE } from './files.ts';

/*
 * Another process asks the owner of a run to stop it with an empty file in the run's folder.
 *
 * 1. The name of the file says everything, so it is complete from the first moment.
 * 2. It is addressed to one ownership, so it can never stop the run of a later owner.
 * 3. It need not survive a power cut, because the owner does not either.
 */

/** `soon` starts nothing new and lets running turns finish; `now` ends them. */
export type StopMode = 'soon' | 'now';

/** Requests a stop. False if the same was requested before. */
export async function requestStop(folder: string, ownershipId: string, mode: StopMode): Promise<boolean> {
  const file = requestFile(folder, ownershipId, mode);
  try {
    const handle = await open(file, 'wx', PRIVATE_FILE_MODE);
    await handle.close();
    return true;
  } catch (cause) {
    if (errorCodeOf(cause) === 'EEXIST') return false;
    throw diskError(`${file} cannot be made`, cause, 'then try again. The run goes on.');
  }
}

/** Reads the strongest request so far. Synchronous, because the way through the thread pool would take longer. */
export function readStopRequest(folder: string, ownershipId: string): StopMode | null {
  if (existsSync(requestFile(folder, ownershipId, 'now'))) return 'now';
  return existsSync(requestFile(folder, ownershipId, 'soon')) ? 'soon' : null;
}

/** Removes the requests of past ownerships. One that cannot be removed does no harm. */
export async function clearStopRequests(
  folder: string,
  isPast: (ownershipId: string) => boolean,
  names = namesIn(folder),
): Promise<void> {
  for (const name of names) {
    const ownershipId = REQUEST_FILE_NAME.exec(name)?.[1];
    if (ownershipId !== undefined && isPast(ownershipId)) await rm(join(folder, name), { force: true }).catch(() => {});
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const REQUEST_FILE_NAME = /^stop-(?:soon|now)\.([0-9a-f]+)$/;

const requestFile = (folder: string, ownershipId: string, mode: StopMode): string =>
  join(folder, `stop-${mode}.${ownershipId}`);
