import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { sep } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import type { ProcessExit } from './command.ts';

/** The files of a turn's process. */
export interface TurnFiles {
  /** The input of the command; complete before anything starts. */
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  /**
   * The process that creates it may run the command; no other may. The wrapper's first line is its pid and start time,
   * its second the exit status, with the word `full` if the disk was full then, or `unable` if it could not run the
   * command; a line is complete only with its newline. One file, because each more that a turn makes
   * costs up to half a millisecond where many were deleted lately.
   */
  readonly started: string;
}

/** The paths of the files in a turn's folder. */
export function turnFiles(dir: string): TurnFiles {
  const prefix = dir + sep;
  return { stdin: `${prefix}stdin`, stdout: `${prefix}stdout`, stderr: `${prefix}stderr`, started: `${prefix}started` };
}

/** The record that a wrapper writes about itself. */
export interface WrapperRecord {
  readonly pid: number;
  /** The start time in the system's own unit; empty where a shell cannot find it out, or the marker is proof enough. */
  readonly start: string;
  readonly writtenMs: number;
}

/** How a command has ended, as its wrapper recorded it. */
export type RecordedExit = Extract<ProcessExit, { kind: 'exited' }>;

/** Reads the recorded exit, if it is there and complete. Synchronous, because that takes less time than a promise. */
export function recordedExit(dir: string): RecordedExit | undefined {
  const [, , , digits, full] = readRecord(dir);
  if (digits === undefined) return undefined;
  return { kind: 'exited', code: Number(digits), ...(full !== undefined && { diskWasFull: true }) };
}

/** True if the wrapper has recorded that it could not run the command, because it could make no process. */
export const isRecordedUnable = (dir: string): boolean => /^\d+ \d*\nunable\n/.test(readRecordText(dir));

/** Reads what the wrapper has recorded about itself, if it has come that far. */
export function recordedWrapper(dir: string): WrapperRecord | undefined {
  const [, pid, start] = readRecord(dir);
  const written = statSync(turnFiles(dir).started, { throwIfNoEntry: false });
  if (pid === undefined || start === undefined || written === undefined) return undefined;
  return { pid: Number(pid), start, writtenMs: written.mtimeMs };
}

/**
 * The holder of the right to run the command: none yet, a wrapper, which may have run it, or a `looker`, which never
 * does.
 */
export type Claim = 'none' | 'wrapper' | 'looker';

/** Reads the claim. A torn or empty file is a wrapper's: it may have come further than the disk shows. */
export function readClaim(dir: string): Claim {
  const text = readIfPresent(turnFiles(dir).started);
  if (text === undefined) return 'none';
  return text === LOOKER_CLAIM ? 'looker' : 'wrapper';
}

/** Takes the right to run the command without running it, so that no process ever does; false if another has it. */
export async function claimStart(dir: string): Promise<boolean> {
  const { started } = turnFiles(dir);
  // A link makes the file complete from the first moment: if we are killed here, it is not taken for a wrapper's.
  const temporary = `${started}.${randomUUID()}`;
  try {
    await writeFile(temporary, LOOKER_CLAIM, { mode: 0o600 });
    await link(temporary, started);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** The result of a file operation; undefined if there is no such file. */
export async function undefinedIfMissing<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const LOOKER_CLAIM = 'nobody\n';

/** The wrapper's record: its pid, its start time and, after the end, the exit status and whether the disk was full. */
function readRecord(dir: string): readonly (string | undefined)[] {
  return /^(\d+) (\d*)\n(?:(\d+)( full)?\n)?/.exec(readRecordText(dir)) ?? [];
}

const readRecordText = (dir: string): string => readIfPresent(turnFiles(dir).started) ?? '';

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
