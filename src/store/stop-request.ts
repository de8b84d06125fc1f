import { existsSync, readdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import { diskError } from './disk-error.ts';
import { PRIVATE_FILE_MODE } from './files.ts';

/*
 * How the owner of a run is asked from elsewhere to stop it: by an empty file in the run's folder.
 *
 * 1. The name of the file says everything, so it is whole from the first moment.
 * 2. It is addressed to one life of the run, the time that one owner has it: it can never stop a later one.
 * 3. It need not outlast a power cut, for the owner does not either.
 */

/** `soon`: nothing new is started, and turns under way come to their end. `now`: they are ended. */
export type StopStage = 'soon' | 'now';

/** Asks for a stop. False if somebody has asked for it before. */
export async function requestStop(folder: string, life: string, stage: StopStage): Promise<boolean> {
  const file = requestFile(folder, life, stage);
  try {
    const handle = await open(file, 'wx', PRIVATE_FILE_MODE);
    await handle.close();
    return true;
  } catch (cause) {
    if (errorCodeOf(cause) === 'EEXIST') return false;
    throw diskError(`${file} cannot be made`, cause, 'then try again. The run goes on.');
  }
}

/** What was asked for by now. Synchronous: two looks take less time than the way to the thread pool. */
export function readStopRequest(folder: string, life: string): StopStage | null {
  if (existsSync(requestFile(folder, life, 'now'))) return 'now';
  return existsSync(requestFile(folder, life, 'soon')) ? 'soon' : null;
}

/** Clears away what was asked for in past lives. What cannot be removed does no harm. */
export async function clearStopRequests(
  folder: string,
  isPast: (life: string) => boolean,
  names = namesIn(folder),
): Promise<void> {
  for (const name of names) {
    const life = REQUEST_FILE_NAME.exec(name)?.[1];
    if (life !== undefined && isPast(life)) await rm(join(folder, name), { force: true }).catch(() => {});
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

const requestFile = (folder: string, life: string, stage: StopStage): string => join(folder, `stop-${stage}.${life}`);
