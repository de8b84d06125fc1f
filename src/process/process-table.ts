import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MARKER_VARIABLE, WRAPPER_VARIABLE } from './command.ts';

/** True if there is a `/proc`. */
export const LINUX = process.platform === 'linux';

let next: Promise<readonly ProcessEntry[]> | undefined;

/** Reads the process table. Calls at the same moment share one read, which begins after all of them. */
export function processTable(): Promise<readonly ProcessEntry[]> {
  next ??= setImmediate().then(() => {
    next = undefined;
    return LINUX ? readProc() : readPs();
  });
  return next;
}

/** Reads the entry of one process, if it is there. */
export async function processEntry(pid: number): Promise<ProcessEntry | undefined> {
  return LINUX ? procEntry(pid) : (await processTable()).find((entry) => entry.pid === pid);
}

/** True if the environment of a process that was just started can be seen, and has this marker in it. */
export const showsMarker = (pid: number, marker: string): boolean => LINUX && procEntry(pid)?.marker === marker;

/** Checks that a pid still belongs to the process that was seen, right before it gets a signal. */
export function isSameProcess(entry: Pick<ProcessEntry, 'pid' | 'start'>): boolean {
  return !LINUX || procStart(entry.pid) === entry.start;
}

/** One row of the machine's process table. */
export interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  /** The start time; together with the pid it is unique, since pids are used again. */
  readonly start: string;
  /** The program, in a form that changes when the process executes another one. */
  readonly program: string;
  readonly zombie: boolean;
  /** The value of its `RAYMOND_TURN`, empty if it has none, undefined if its environment is hidden from us. */
  readonly marker: string | undefined;
  readonly wrapper: boolean;
}

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Reads the process table of macOS, which has no `/proc`. Written from its manual; only the parser is tested. */
async function readPs(): Promise<readonly ProcessEntry[]> {
  const columns = ['-o', 'pid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart=', '-o', 'command='];
  const { stdout } = await run('/bin/ps', ['-axEww', ...columns], {
    env: { LC_ALL: 'C' },
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return parsePs(stdout);
}

/**
 * Parses the output of `ps`. The environment follows the arguments with nothing between, and the system hides it for
 * its own programs, `/bin/sh` among them; so a line without the marker proves nothing.
 */
export function parsePs(text: string): readonly ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const line of text.split('\n')) {
    const found = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]{8}\s+\d{4})\s(.*)$/.exec(line);
    if (found === null) continue;
    const [, pid = '', group = '', state = '', start = '', rest = ''] = found;
    entries.push({
      pid: Number(pid),
      group: Number(group),
      start: start.replace(/\s+/g, ' '),
      program: rest.trim(),
      zombie: state.startsWith('Z'),
      marker: rest.match(new RegExp(`(?:^| )${MARKER_VARIABLE}=(\\S+)`))?.[1],
      wrapper: rest.includes(` ${WRAPPER_VARIABLE}=1`),
    });
  }
  return entries;
}

const ENTRIES_AT_A_TIME = 50;

/**
 * Reads the process table of Linux, synchronously in small portions: a promise for each tiny file takes ten times as
 * long.
 */
async function readProc(): Promise<readonly ProcessEntry[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const entries: ProcessEntry[] = [];
  for (const [index, pid] of pids.entries()) {
    if (index % ENTRIES_AT_A_TIME === ENTRIES_AT_A_TIME - 1) await setImmediate();
    const entry = procEntry(Number(pid));
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** Reads the entry of one process, if it is there. */
function procEntry(pid: number): ProcessEntry | undefined {
  const stat = statOf(pid);
  if (stat === undefined) return undefined;
  const environment = stat.zombie ? undefined : readOrNothing(`/proc/${pid}/environ`);
  if (environment === undefined || environment.length === 0) {
    return { pid, ...stat, marker: undefined, wrapper: false };
  }
  const marker = valueIn(environment, MARKER_VARIABLE);
  return {
    pid,
    ...stat,
    marker: marker ?? '',
    wrapper: marker !== undefined && valueIn(environment, WRAPPER_VARIABLE) === '1',
  };
}

/** Reads the start time of a process, in clock ticks since the machine started. */
export function procStart(pid: number): string | undefined {
  return statOf(pid)?.start;
}

function statOf(pid: number): Pick<ProcessEntry, 'group' | 'start' | 'program' | 'zombie'> | undefined {
  const text = readOrNothing(`/proc/${pid}/stat`)?.toString('latin1');
  if (text === undefined) return undefined;
  // The name, in brackets, may contain spaces and brackets; field 3 comes after its last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', , group = ''] = fields;
  // Field 28 is the address of the stack, which is random for each program.
  const program = `${text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))} ${fields[25] ?? ''}`;
  return { group: Number(group), start: fields[19] ?? '', program, zombie: 'ZXx'.includes(state) };
}

function valueIn(environment: Buffer, name: string): string | undefined {
  const key = `${name}=`;
  let at = environment.indexOf(key);
  while (at > 0 && environment[at - 1] !== 0) at = environment.indexOf(key, at + 1);
  if (at === -1) return undefined;
  const end = environment.indexOf(0, at);
  return environment.toString('utf8', at + key.length, end === -1 ? undefined : end);
}

/** Undefined if it cannot be read: a process may end at any moment, or belong to another user. */
function readOrNothing(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
