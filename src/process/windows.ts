import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessageOf } from '../errors.ts';
import type { EndResult, NotStarted, ProcessCommand, ProcessExit, StartedCommand } from './command.ts';
import { claimStart, readClaim, recordedExit, recordedWrapper, turnFiles } from './turn-files.ts';
import { connectToPipe, createPipeNumber, hasPipe, type PipeOwner, pipeName } from './windows-pipe.ts';
import { NEVER_RAN_STATUS } from './wrapper.ts';

// Windows has neither sessions nor readable environments: the record of a turn's wrapper names the pipe that it keeps.

/** The folders of the turns that this process has started and that have not ended, by their markers. */
const running = new Map<string, string>();

/** Starts a command under a wrapper that outlives us and records its exit. */
export async function startOnWindows(
  dir: string,
  command: ProcessCommand,
  marker: string,
): Promise<StartedCommand | NotStarted> {
  const { file, args, cwd, input } = command;
  const { stdin, stdout, stderr, started } = turnFiles(dir);
  if (existsSync(started))
    return { kind: 'not_started', message: `cannot start ${file}: ${dir} has been used already`, obstacle: 'lasting' };
  const wrapper = spawn(process.execPath, ['-e', WRAPPER_PROGRAM], {
    cwd: dir,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  const ended = new Promise<Error | number | null>((resolve) => {
    wrapper.once('error', resolve);
    wrapper.once('exit', resolve);
  });
  const { pid } = wrapper;
  if (pid === undefined) {
    return {
      kind: 'not_started',
      message: `cannot start ${file}: ${errorMessageOf(await ended)}`,
      obstacle: 'lasting',
    };
  }
  running.set(marker, dir);
  const number = createPipeNumber();
  const env = removeSameNames(command.env);
  const streams = { stdin: input === 'none' ? devNull : stdin, stdout, stderr };
  const wrapped: WrapperRequest = {
    file,
    args,
    cwd,
    env,
    ...streams,
    started,
    number,
    pipe: pipeName({ pid, number }),
  };
  wrapper.stdin.on('error', () => {});
  wrapper.stdin.end(`${JSON.stringify(wrapped)}\n`);
  const exited = ended.then((status): ProcessExit => {
    running.delete(marker);
    return recordedExit(dir) ?? { kind: status === NEVER_RAN_STATUS ? 'never_ran' : 'died' };
  });
  wrapper.unref();
  return { kind: 'started', pid, stdin: null, exited };
}

/** Keeps the last of several variables whose names differ only in letter case: Windows knows one of them. */
export function removeSameNames(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const names = new Map(Object.keys(env).map((name) => [name.toUpperCase(), name]));
  return Object.fromEntries([...names.values()].map((name) => [name, env[name] ?? '']));
}

/** True while the wrapper of a turn is there, whichever process started it. */
export async function isRunningOnWindows(dir: string): Promise<boolean> {
  const owner = wrapperOf(dir);
  return owner !== undefined && hasPipe(owner);
}

/** Ends a turn at once, whichever process started it: Windows has no SIGTERM. One that is about to begin is kept from it. */
export async function endOnWindows(dir: string): Promise<EndResult> {
  // A wrapper that has no record yet finds ours, and then runs nothing.
  if (existsSync(dir) && readClaim(dir) === 'none' && (await claimStart(dir))) return { killed: 0, left: 0 };
  const owner = wrapperOf(dir);
  const socket = owner === undefined ? null : await connectToPipe(owner);
  if (owner === undefined || socket === null) return { killed: 0, left: 0 };
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write('end');
  const timeout = setTimeout(() => socket.destroy(), END_TIMEOUT_MS);
  await closed;
  clearTimeout(timeout);
  // A process that exits closes its connections one after the other.
  for (let waitedMs = 0; await hasPipe(owner); waitedMs += EXIT_POLL_MS) {
    if (waitedMs >= EXIT_TIMEOUT_MS) return { killed: 1, left: 1 };
    await sleep(EXIT_POLL_MS);
  }
  return { killed: 1, left: 0 };
}

const EXIT_POLL_MS = 20;
const EXIT_TIMEOUT_MS = 2_000;

const END_TIMEOUT_MS = 10_000;

/** Ends the turns of this process whose markers have this prefix. */
export async function endAllOnWindows(prefix: string): Promise<EndResult> {
  const folders = [...running].filter(([marker]) => marker.startsWith(prefix)).map(([, dir]) => dir);
  const results = await Promise.all(folders.map(endOnWindows));
  return {
    killed: results.reduce((sum, { killed }) => sum + killed, 0),
    left: results.reduce((sum, { left }) => sum + left, 0),
  };
}

/** The wrapper that has recorded itself for a turn, with its pipe as the start time. */
function wrapperOf(dir: string): PipeOwner | undefined {
  const record = recordedWrapper(dir);
  return record && { pid: record.pid, number: record.start };
}

/** A request to the wrapper: a command with the files of its turn. It gets it as JSON on its stdin. */
interface WrapperRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly started: string;
  /** The number of its pipe, which it records instead of a start time. */
  readonly number: string;
  /** The named pipe that exists as long as the command runs. */
  readonly pipe: string;
}

/**
 * The program that runs a command on Windows and outlives us, as `sh` does elsewhere: it records the start and the exit of the
 * command. A process that can connect to its pipe knows that the command runs; one that writes to it ends the command with all
 * that it started. It listens before it records its start, so that a started command without a pipe has died; the record is
 * complete from the first moment. `cmd.exe` gets its arguments as they are, because its quotes are not those of other programs.
 */
const WRAPPER_PROGRAM = `
const { execFile, spawn } = require('node:child_process');
const { appendFileSync, linkSync, openSync, readFileSync, unlinkSync, writeFileSync, writeSync } = require('node:fs');
const { createServer } = require('node:net');
const written = readFileSync(0, 'utf8');
// We were killed before we could say what to run.
if (!written.endsWith('\\n')) process.exit(1);
const command = JSON.parse(written);
let child;
const end = () => {
  if (child?.pid !== undefined) execFile('taskkill', ['/T', '/F', '/PID', String(child.pid)], () => child.kill());
};
const server = createServer((socket) => socket.on('error', () => {}).on('data', end));
server.on('error', () => process.exit(1));
server.listen(command.pipe, () => {
  let record;
  try {
    const draft = command.started + '.' + command.number;
    writeFileSync(draft, process.pid + ' ' + command.number + '\\n', { flag: 'wx' });
    try {
      linkSync(draft, command.started);
    } finally {
      unlinkSync(draft);
    }
    record = openSync(command.started, 'a');
  } catch (error) {
    if (error.code === 'ENOSPC') process.exit(${NEVER_RAN_STATUS});
    if (error.code !== 'EEXIST') appendFileSync(command.stderr, error.message + '\\n');
    process.exit(1);
  }
  const finish = (code) => {
    writeSync(record, code + '\\n');
    process.exit(0);
  };
  const fail = (error) => {
    appendFileSync(command.stderr, error.message + '\\n');
    finish(127);
  };
  try {
    const stdio = [openSync(command.stdin, 'r'), openSync(command.stdout, 'a'), openSync(command.stderr, 'a')];
    const windowsVerbatimArguments = command.file === 'cmd.exe';
    const { cwd, env } = command;
    child = spawn(command.file, command.args, { cwd, env, stdio, windowsHide: true, windowsVerbatimArguments });
    child.once('error', fail);
    child.once('exit', (code) => finish(code ?? 1));
  } catch (error) {
    fail(error);
  }
});
`;
