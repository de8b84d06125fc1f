import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { sep } from 'node:path';
import { codeOf } from '../errors.ts';

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
  const inside = dir + sep;
  return { stdin: `${inside}stdin`, stdout: `${inside}stdout`, stderr: `${inside}stderr`, started: `${inside}started` };
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
  const digits = recordIn(dir)[3];
  return digits === undefined ? undefined : Number(digits);
}

/** Who the wrapper is, if it has come far enough to say so. */
export function recordedWrapper(dir: string): WrapperRecord | undefined {
  const [, pid, start] = recordIn(dir);
  const written = statSync(turnFiles(dir).started, { throwIfNoEntry: false });
  if (pid === undefined || start === undefined || written === undefined) return undefined;
  return { pid: Number(pid), start, writtenMs: written.mtimeMs };
}

/** Who has the right to run the command: nobody yet, a wrapper, which may have done so, or one of us, who never does. */
export type Claim = 'none' | 'wrapper' | 'looker';

/** Who has it now. What is torn or empty is a wrapper's: it may have come further than the disk knows. */
export function claimOn(dir: string): Claim {
  const text = readIfThere(turnFiles(dir).started);
  if (text === undefined) return 'none';
  return text === LOOKER ? 'looker' : 'wrapper';
}

/** Takes the right to run the command, so that nobody ever does; false if somebody has it already. */
export async function claimStart(dir: string): Promise<boolean> {
  const { started } = turnFiles(dir);
  // A link makes it whole from the first moment: if we are killed here, it is not taken for a wrapper's.
  const whole = `${started}.${randomUUID()}`;
  try {
    await writeFile(whole, LOOKER, { mode: 0o600 });
    await link(whole, started);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(whole, { force: true });
  }
}

/** What a look at a file gives, or nothing if there is no such file. */
export async function unlessMissing<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const LOOKER = 'nobody\n';

/** The wrapper's record: its pid, its start time and, after the end, the exit status. */
function recordIn(dir: string): readonly (string | undefined)[] {
  return /^(\d+) (\d*)\n(?:(\d+)\n)?/.exec(readIfThere(turnFiles(dir).started) ?? '') ?? [];
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
