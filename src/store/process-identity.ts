import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { errorCodeOf } from '../errors.ts';

/** What tells a process from every other one there ever was, as far as this machine can say. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the machine's own words, only to be compared; null if it cannot be known. */
  readonly startTime: string | null;
  /** Another one after each start of the machine; null where there is none (macOS, Windows). */
  readonly bootId: string | null;
  /** A pid means something only within it; null where there is none. */
  readonly namespace: string | null;
  readonly host: string;
}

/** The facts about ourselves. */
export async function identifyThisProcess(): Promise<ProcessIdentity> {
  const [startTime, bootId, namespace] = await Promise.all([
    readStartTime(process.pid),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim(), toNull),
    readlink('/proc/self/ns/pid').catch(toNull),
  ]);
  return { pid: process.pid, startTime: startTime ?? null, bootId, namespace, host: hostname() };
}

/** When a process started; undefined if there is no such process any more, null if it is there but will not say. */
export async function readStartTime(pid: number): Promise<string | null | undefined> {
  const startTime = process.platform === 'linux' ? await readStartTimeFromProc(pid) : await readStartTimeFromPs(pid);
  if (startTime !== null) return startTime;
  return processExists(pid) ? null : undefined;
}

const toNull = (): null => null;

/** A zombie is dead: its parent only has not looked. */
const DEAD_STATUS = /^[ZX]/;

/** Field 22 of stat: ticks since boot. The name of the command, field 2, may hold blanks and brackets. */
async function readStartTimeFromProc(pid: number): Promise<string | null | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(toNull);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields?.[0] === undefined) return null;
  return DEAD_STATUS.test(fields[0]) ? undefined : (fields[19] ?? null);
}

/** For machines without /proc. The language and the time zone are fixed, for the user may change his. */
export async function readStartTimeFromPs(pid: number): Promise<string | null | undefined> {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC0' };
  const result = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env }).catch(toNull);
  const [, status, startTime] = result?.stdout.match(/^\s*(\S+)\s+(.+?)\s*$/) ?? [];
  if (status === undefined || startTime === undefined) return null;
  return DEAD_STATUS.test(status) ? undefined : startTime;
}

/** Signal 0 only asks. A process of someone else is there, though we may not touch it. */
function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) === 'EPERM';
  }
}
