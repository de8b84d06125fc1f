import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorCodeOf } from '../../errors.ts';

/*
 * Processes of a container cannot be seen from another one, not even from the same one after a restart. But the kernel knows who
 * has a file open: the owner of a run, and all processes of its turns, hold a named pipe of the run's folder open for reading. Who
 * opens it for writing without waiting is refused if no process of this machine holds it.
 */

/** The pipe that shows that a process of a run lives. */
export interface Presence {
  /** To be inherited by the processes of turns. */
  readonly descriptor: number;
  /** Identifies the pipe: in a copy of the folder it is another. */
  readonly inode: string;
}

/** The pid namespace in which Linux starts; from there, all processes can be seen. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/** Opens the pipe of a run's folder, and makes it if there is none; undefined where it is of no use or cannot be made. */
export async function openPresence(folder: string, namespace: string | null): Promise<Presence | undefined> {
  if (namespace === null || namespace === FIRST_NAMESPACE) return undefined;
  const pipe = pipeIn(folder);
  try {
    if (statSync(pipe, { throwIfNoEntry: false }) === undefined)
      await promisify(execFile)('mkfifo', ['-m', '600', pipe]);
    const stats = statSync(pipe);
    if (!stats.isFIFO()) return undefined;
    return { descriptor: openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK), inode: String(stats.ino) };
  } catch {
    return undefined;
  }
}

/** Closes the pipe in this process. */
export function closePresence({ descriptor }: Presence): void {
  closeSync(descriptor);
}

/** Proves that no process of this machine holds the pipe; false if one does, or if it is not that pipe. */
export function isNobodyPresent(folder: string, inode: string): boolean {
  const pipe = pipeIn(folder);
  try {
    const stats = statSync(pipe);
    if (!stats.isFIFO() || String(stats.ino) !== inode) return false;
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return false;
  } catch (error) {
    return errorCodeOf(error) === 'ENXIO';
  }
}

const pipeIn = (folder: string): string => join(folder, 'alive');
