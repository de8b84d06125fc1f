import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { devNull } from 'node:os';
import { errorCodeOf, errorMessageOf } from '../errors.ts';
import {
  MARKER_VARIABLE,
  type NotStarted,
  type ProcessCommand,
  type ProcessExit,
  type StartedCommand,
} from './command.ts';
import { waitForEnd } from './find.ts';
import { showsMarker } from './process-table.ts';
import { turnFiles } from './turn-files.ts';
import { startOnWindows } from './windows.ts';
import { NEVER_RAN_STATUS, wrapCommand } from './wrapper.ts';

/** Starts a command that outlives this process, in a folder that contains its `stdin` already, if it has any. */
export async function startCommand(dir: string, command: ProcessCommand): Promise<StartedCommand | NotStarted> {
  const marker = command.env[MARKER_VARIABLE];
  if (!marker) throw new Error(`a command without ${MARKER_VARIABLE} could not be found again`);
  if (process.platform === 'win32') return startOnWindows(dir, command, marker);
  try {
    const child = spawnWrapper(dir, command);
    const wrapperExited = exitOf(child);
    if (child.pid === undefined) {
      const [error] = await once(child, 'error');
      return toNotStarted(command, error);
    }
    // It is the wrapper's program by now: `spawn` returns only when that runs.
    environmentsAreVisible ||= showsMarker(child.pid, marker);
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    // A write to a command that has ended is no error of ours: its end is reported anyway.
    child.stdin?.on('error', () => {});
    const exited = wrapperExited.then((status) => toProcessExit(status, dir, marker));
    // Callers that wait for it get the error; if none does, it must not end our process.
    exited.catch(() => {});
    return { kind: 'started', pid: child.pid, stdin: child.stdin, exited };
  } catch (error) {
    return toNotStarted(command, error);
  }
}

/** The exit status of a wrapper, null if it was killed. */
export const exitOf = (wrapper: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => wrapper.once('exit', resolve));

/** How the command ended of a wrapper that has ended with this status. */
export async function toProcessExit(status: number | null, dir: string, marker: string): Promise<ProcessExit> {
  return status === NEVER_RAN_STATUS ? { kind: 'never_ran' } : waitForEnd(dir, marker);
}

/** True if a wrapper has shown us its environment: then those that follow will, too, and need not record their start time. */
let environmentsAreVisible = false;

/** True if a process of a turn can be told by its environment, as far as this process has seen. */
export const canSeeMarkers = (): boolean => environmentsAreVisible;

/** The wrapper leads its own session, and its streams are files, except a stdin that is to end with our process. */
function spawnWrapper(dir: string, command: ProcessCommand): ChildProcess {
  // A process that reads its input from us lives long, and others find it by its start time.
  const { file, args, env } = wrapCommand(command, !environmentsAreVisible || command.input === 'pipe');
  const streams: number[] = [];
  const open = (path: string, flags: string): number => {
    const stream = openSync(path, flags, 0o600);
    streams.push(stream);
    return stream;
  };
  try {
    const input =
      command.input === 'pipe' ? 'pipe' : open(command.input === 'none' ? devNull : turnFiles(dir).stdin, 'r');
    const outputs = outputFiles(dir).map((path) => open(path, 'a'));
    const inherited = command.inherited === undefined ? [] : [command.inherited];
    return spawn(file, args, { cwd: dir, env, stdio: [input, ...outputs, ...inherited], detached: true });
  } finally {
    for (const stream of streams) closeSync(stream);
  }
}

/** Makes the files for the output of a command. */
export function makeOutputFiles(dir: string): void {
  for (const path of outputFiles(dir)) closeSync(openSync(path, 'a', 0o600));
}

/**
 * Makes these files in a moment, while the turn is recorded: a file takes as long as all that a step decides. If that fails,
 * the start of the command says why.
 */
export function makeOutputFilesSoon(dir: string): void {
  setImmediate(() => {
    try {
      makeOutputFiles(dir);
    } catch {}
  });
}

/** They are appended to, because a second wrapper in the same folder must not erase the output of the first one's command. */
function outputFiles(dir: string): readonly string[] {
  const { stdout, stderr } = turnFiles(dir);
  return [stdout, stderr];
}

/** Errors that may pass, because the machine is short of something. */
const SHORTAGES: Readonly<Record<string, string>> = {
  EAGAIN: 'the system allows no more processes',
  ENOMEM: 'the machine is out of memory',
  EMFILE: 'this process has too many files open',
  ENFILE: 'the system has too many files open',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

const isFullDisk = (code: string): boolean => code === 'ENOSPC' || code === 'EDQUOT';

/** The message for a command that could not start. */
export function toNotStarted({ file }: Pick<ProcessCommand, 'file'>, error: unknown): NotStarted {
  const code = errorCodeOf(error);
  const errorMessage = errorMessageOf(error);
  const shortage = SHORTAGES[code];
  const reason = code === 'E2BIG' ? 'its arguments and environment are too long' : (shortage ?? errorMessage);
  const detail = reason === errorMessage ? '' : ` (${code})`;
  return {
    kind: 'not_started',
    message: `cannot start ${file}: ${reason}${detail}`,
    obstacle: isFullDisk(code) ? 'full_disk' : shortage === undefined ? 'lasting' : 'shortage',
  };
}
