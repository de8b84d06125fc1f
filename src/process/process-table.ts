import { setImmediate } from 'node:timers/promises';
import { procEntry, procStart, readProc } from './proc.ts';
import type { ProcessEntry } from './process-entry.ts';
import { readPs } from './ps.ts';

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
