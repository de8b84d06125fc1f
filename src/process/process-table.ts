import { setImmediate } from 'node:timers/promises';
import { procEntry, procStart, readProc } from './proc.ts';
import type { ProcessEntry } from './process-entry.ts';
import { readPs } from './ps.ts';

const LINUX = process.platform === 'linux';

let next: Promise<readonly ProcessEntry[]> | undefined;

/** Everything that runs now. All who ask at the same moment share one look, which begins after they asked. */
export function processTable(): Promise<readonly ProcessEntry[]> {
  next ??= setImmediate().then(() => {
    next = undefined;
    return LINUX ? readProc() : readPs();
  });
  return next;
}

/** One process, if it is there. */
export async function processEntry(pid: number): Promise<ProcessEntry | undefined> {
  return LINUX ? procEntry(pid) : (await processTable()).find((entry) => entry.pid === pid);
}

/** Whether the number still belongs to the process we saw: asked right before it gets a signal. */
export function isSameProcess(entry: ProcessEntry): boolean {
  return !LINUX || procStart(entry.pid) === entry.start;
}
