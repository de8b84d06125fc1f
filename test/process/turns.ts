import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect } from 'vitest';
import {
  MARKER_VARIABLE,
  type ProcessCommand,
  type ProcessExit,
  type StartedCommand,
} from '../../src/process/command.ts';
import { endMarked } from '../../src/process/end.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { startCommand } from '../../src/process/start.ts';
import { turnFiles } from '../../src/process/turn-files.ts';

/** A turn's folder with its stdin, and the marker of its processes. */
export interface Turn {
  readonly dir: string;
  readonly marker: string;
}

/** Creates turns for the tests of one file; a test that leaves a process behind fails. */
export interface Turns {
  readonly newTurn: (stdin?: string) => Turn;
  /** A folder that is removed after the test. */
  readonly folder: () => string;
  readonly prefix: () => string;
}

/** Call it once per file, or per group of tests. */
export function useTurns(): Turns {
  let root: string | undefined;
  let prefix = `test-${randomUUID()}/`;
  let count = 0;
  const folder = (): string => {
    root ??= mkdtempSync(join(tmpdir(), 'raymond-process-'));
    const dir = join(root, `folder ${count++}`);
    mkdirSync(dir);
    return dir;
  };
  afterEach(async () => {
    const left = await leftBehind(prefix);
    if (left.length > 0) await endMarked(prefix, { graceMs: 0 });
    if (root !== undefined) rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    root = undefined;
    prefix = `test-${randomUUID()}/`;
    expect(left).toStrictEqual([]);
  });
  return {
    folder,
    prefix: () => prefix,
    newTurn: (stdin = '') => {
      const dir = folder();
      writeFileSync(turnFiles(dir).stdin, stdin);
      return { dir, marker: `${prefix}${count}` };
    },
  };
}

/** A wrapper that has written its record needs a moment to leave. */
async function leftBehind(prefix: string): Promise<readonly unknown[]> {
  const deadline = performance.now() + 2_000;
  for (;;) {
    const left = await findMarkedProcesses(prefix);
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(5);
  }
}

/** A command line for the shell, in the turn's folder and with its marker. */
export function shell({ dir, marker }: Turn, script: string, ...args: string[]): ProcessCommand {
  return { file: 'sh', args: ['-c', script, 'sh', ...args], cwd: dir, env: { PATH, [MARKER_VARIABLE]: marker } };
}

const { PATH = '' } = process.env;

/** Starts a command that must start. */
export async function start(turn: Turn, command: ProcessCommand): Promise<StartedCommand> {
  const started = await startCommand(turn.dir, command);
  if (started.kind !== 'started') throw new Error(started.message);
  return started;
}

/** Runs a command to its end. */
export async function run(turn: Turn, command: ProcessCommand): Promise<ProcessExit> {
  return awake((await start(turn, command)).exited);
}

/** Waits for something that does not keep the process alive by itself. */
export async function awake<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, 1_000);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

const LONGEST_MS = 20_000;

/** Waits until a condition holds, and names it in the error if it never does. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LONGEST_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`it never came: ${what}`);
    await sleep(5);
  }
}

/** The text of a file, empty while it is missing. */
export const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Waits until a file of the turn's folder holds a whole line, and gives its words. */
export async function wordsIn(turn: Turn, name: string): Promise<readonly string[]> {
  const file = join(turn.dir, name);
  await eventually(`a line in ${name}`, () => textOf(file).endsWith('\n'));
  return textOf(file).trim().split(/\s+/);
}

/** Sends a signal to a process that has printed its pid. */
export function signal(pid: string | undefined, name: NodeJS.Signals): void {
  if (pid === undefined || !/^\d+$/.test(pid)) throw new Error(`no pid: ${pid}`);
  process.kill(Number(pid), name);
}

/** Lets commands that wait with `WAIT_FOR_GO` continue. */
export const go = ({ dir }: Turn): void => writeFileSync(join(dir, 'go'), '');

/** Shell code that waits until the test says go; bounded, so that a broken test leaves nothing for long. */
export const WAIT_FOR_GO = 'i=0; while [ ! -e go ] && [ $i -lt 3000 ]; do sleep 0.01; i=$((i+1)); done';
