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
    const wrapperExited = new Promise<number | null>((resolve) => child.once('exit', resolve));
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
    const exited: Promise<ProcessExit> = wrapperExited.then((status) =>
      status === NEVER_RAN_STATUS ? { kind: 'never_ran' } : waitForEnd(dir, marker),
    );
    // Callers that wait for it get the error; if none does, it must not end our process.
    exited.catch(() => {});
    return { kind: 'started', pid: child.pid, stdin: child.stdin, exited };
  } catch (error) {
    return toNotStarted(command, error);
  }
}

/** Whether a wrapper has shown us its environment: then those that follow will, too, and need not record their start time. */
let environmentsAreVisible = false;

/** The wrapper leads its own session, and its streams are files, except a stdin that is to end with our process. */
function spawnWrapper(dir: string, command: ProcessCommand): ChildProcess {
  const { stdin, stdout, stderr } = turnFiles(dir);
  // What takes its input from us lives long, and others look for it by its start time.
  const { file, args, env } = wrapCommand(command, !environmentsAreVisible || command.input === 'pipe');
  const streams: number[] = [];
  const open = (path: string, flags: string): number => {
    const stream = openSync(path, flags, 0o600);
    streams.push(stream);
    return stream;
  };
  try {
    const input = command.input === 'pipe' ? 'pipe' : open(command.input === 'none' ? devNull : stdin, 'r');
    // Appending, because a second wrapper in the same folder must not erase the output of the first one's command.
    const outputs = [stdout, stderr].map((path) => open(path, 'a'));
    const inherited = command.inherited === undefined ? [] : [command.inherited];
    return spawn(file, args, { cwd: dir, env, stdio: [input, ...outputs, ...inherited], detached: true });
  } finally {
    for (const stream of streams) closeSync(stream);
  }
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

/** What an error says about a command that it kept from starting. */
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
