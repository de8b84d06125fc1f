import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { MARKER_VARIABLE, WRAPPER_VARIABLE } from './command.ts';
import type { ProcessEntry } from './process-entry.ts';

const ENTRIES_AT_A_TIME = 50;

/**
 * Reads the process table of Linux, synchronously in small portions: a promise for each tiny file takes ten times as
 * long.
 */
export async function readProc(): Promise<readonly ProcessEntry[]> {
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
export function procEntry(pid: number): ProcessEntry | undefined {
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
