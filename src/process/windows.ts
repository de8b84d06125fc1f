import { execFile, spawn } from 'node:child_process';
import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { errorCodeOf } from '../errors.ts';
import type { EndResult, NotStarted, ProcessCommand, ProcessExit, StartedCommand } from './command.ts';
import { turnFiles } from './turn-files.ts';

// On Windows only the process that started a turn knows of it: the turn cannot be found again after a crash and counts
// as dead. The start is tested on other systems, `taskkill` nowhere.

const running = new Map<string, { readonly pid: number; readonly exited: Promise<ProcessExit> }>();

/** Starts a command as a plain child process and records its exit. */
export async function startOnWindows(
  dir: string,
  command: ProcessCommand,
  marker: string,
): Promise<StartedCommand | NotStarted> {
  const { file, args, cwd, env, input } = command;
  const files = turnFiles(dir);
  const record = openIfNew(files.started);
  if (record === undefined) {
    return { kind: 'not_started', message: `cannot start ${file}: ${dir} has been used already`, obstacle: 'lasting' };
  }
  const stdin = openSync(input === 'none' ? devNull : files.stdin, 'r');
  const streams = [stdin, openSync(files.stdout, 'a'), openSync(files.stderr, 'a')];
  const child = spawn(file, args, { cwd, env, stdio: streams, windowsHide: true });
  for (const stream of streams) closeSync(stream);
  const pid = child.pid ?? 0;
  writeSync(record, `${pid} \n`);
  const exited = new Promise<ProcessExit>((resolve) => {
    const end = (code: number): void => {
      running.delete(marker);
      writeSync(record, `${code}\n`);
      closeSync(record);
      resolve({ kind: 'exited', code });
    };
    child.once('error', (error) => {
      appendFileSync(files.stderr, `${error.message}\n`);
      end(127);
    });
    child.once('exit', (code) => end(code ?? 1));
  });
  if (child.pid !== undefined) running.set(marker, { pid, exited });
  child.unref();
  return { kind: 'started', pid, stdin: null, exited };
}

function openIfNew(file: string): number | undefined {
  try {
    return openSync(file, 'wx');
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

/** Whether a turn that this process started is running. */
export const isRunningOnWindows = (marker: string): boolean => running.has(marker);

/** Ends turns that this process started, at once: Windows has no SIGTERM. */
export async function endOnWindows(matches: (marker: string) => boolean): Promise<EndResult> {
  const matching = [...running].filter(([marker]) => matches(marker)).map(([, child]) => child);
  for (const { pid } of matching) execFile('taskkill', ['/T', '/F', '/PID', String(pid)], () => {});
  await Promise.all(matching.map(({ exited }) => exited));
  return { killed: matching.length, left: 0 };
}
