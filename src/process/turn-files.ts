import { readFileSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';

/** Where a turn's process leaves its traces. */
export interface TurnFiles {
  /** What the command reads; complete before anything starts. */
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Who creates it may run the command; everybody else may not. */
  readonly started: string;
  /** The wrapper's pid and start time. Without this file the command has not run. */
  readonly pid: string;
  /** The exit status, complete only with its newline. */
  readonly exit: string;
}

/** The files in a turn's folder. */
export function turnFiles(dir: string): TurnFiles {
  return {
    stdin: join(dir, 'stdin'),
    stdout: join(dir, 'stdout'),
    stderr: join(dir, 'stderr'),
    started: join(dir, 'started'),
    pid: join(dir, 'pid'),
    exit: join(dir, 'exit'),
  };
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
  const digits = /^(\d+)\n$/.exec(readIfThere(turnFiles(dir).exit))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Who the wrapper is, if it has come far enough to say so. */
export async function recordedWrapper(dir: string): Promise<WrapperRecord | undefined> {
  const file = turnFiles(dir).pid;
  const [, pid, start] = /^(\d+) (\d*)\n$/.exec(readIfThere(file)) ?? [];
  const written = await unlessMissing(stat(file));
  if (pid === undefined || start === undefined || written === undefined) return undefined;
  return { pid: Number(pid), start, writtenMs: written.mtimeMs };
}

/** Whether the wrapper has come to the point where the command may have run. */
export async function mayHaveRun(dir: string): Promise<boolean> {
  return (await unlessMissing(stat(turnFiles(dir).pid))) !== undefined;
}

/** Takes the right to run the command; false if somebody has it already. */
export async function claimStart(dir: string): Promise<boolean> {
  try {
    await (await open(turnFiles(dir).started, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
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
