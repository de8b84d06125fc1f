import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { recordedExit, turnFiles } from './turn-files.ts';

/** The words of programs and libraries for a disk that takes nothing more. */
const FULL_DISK_WORDS = /no space left on device|\bENOSPC\b|disk quota exceeded|\bEDQUOT\b/i;

/** True if the last words of a program are about a full disk. */
export const saysDiskIsFull = (stderr: string): boolean => FULL_DISK_WORDS.test(stderr);

/** True if a full disk has kept part of a command's output from being written: its wrapper found out, or the output is cut off. */
export const isOutputLost = (dir: string): boolean =>
  recordedExit(dir)?.diskWasFull === true || isCutOff(turnFiles(dir).stdout);

const BLOCK_BYTES = 4_096;

/** A full disk takes the beginning of a text up to the end of a block, so the file ends there in the middle of a line. */
export function isCutOff(file: string, size = statSync(file, { throwIfNoEntry: false })?.size ?? 0): boolean {
  if (size === 0 || size % BLOCK_BYTES !== 0) return false;
  const last = Buffer.alloc(1);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, last, 0, 1, size - 1);
  } finally {
    closeSync(handle);
  }
  return last.toString() !== '\n';
}
