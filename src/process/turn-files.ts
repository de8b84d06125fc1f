import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { sep } from 'node:path';
import { errorCodeOf } from '../errors.ts';

/** Where a turn's process leaves its traces. */
export interface TurnFiles {
  /** What the command reads; complete before anything starts. */
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  /**
   * Who creates it may run the command; everybody else may not. The wrapper's first line is its pid and start time, its
   * second the exit status; a line is complete only with its newline. One file, because each more that a turn makes
   * costs up to half a millisecond where many were deleted lately.
   */
  readonly started: string;
}

/** The files in a turn's folder. */
export function turnFiles(dir: string): TurnFiles {
  const prefix = dir + sep;
  return { stdin: `${prefix}stdin`, stdout: `${prefix}stdout`, stderr: `${prefix}stderr`, started: `${prefix}started` };
}

/** The wrapper as it wrote itself down. */
export interface WrapperRecord {
  readonly pid: number;
  /** In the system's own unit; empty where a shell cannot know it. */
  readonly start: string;
  readonly writtenMs: number;
}

/** The exit status on record, if it is there and complete. Read at once: the way to the thread pool costs more than this. */
export function recordedExit(dir: string): number | undefined {
  const digits = readRecord(dir)[3];
  return digits === undefined ? undefined : Number(digits);
}

/** Who the wrapper is, if it has come far enough to say so. */
export function recordedWrapper(dir: string): WrapperRecord | undefined {
  const [, pid, start] = readRecord(dir);
  const written = statSync(turnFiles(dir).started, { throwIfNoEntry: false });
  if (pid === undefined || start === undefined || written === undefined) return undefined;
  return { pid: Number(pid), start, writtenMs: written.mtimeMs };
}

/** Who has the right to run the command: nobody yet, a wrapper, which may have done so, or one of us, who never does. */
export type Claim = 'none' | 'wrapper' | 'looker';

/** Who has it now. What is torn or empty is a wrapper's: it may have come further than the disk knows. */
export function readClaim(dir: string): Claim {
  const text = readIfPresent(turnFiles(dir).started);
  if (text === undefined) return 'none';
  return text === LOOKER_CLAIM ? 'looker' : 'wrapper';
}

/** Takes the right to run the command, so that nobody ever does; false if somebody has it already. */
export async function claimStart(dir: string): Promise<boolean> {
  const { started } = turnFiles(dir);
  // A link makes it whole from the first moment: if we are killed here, it is not taken for a wrapper's.
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

/** What a look at a file gives, or nothing if there is no such file. */
export async function undefinedIfMissing<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const LOOKER_CLAIM = 'nobody\n';

/** The wrapper's record: its pid, its start time and, after the end, the exit status. */
function readRecord(dir: string): readonly (string | undefined)[] {
  return /^(\d+) (\d*)\n(?:(\d+)\n)?/.exec(readIfPresent(turnFiles(dir).started) ?? '') ?? [];
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
