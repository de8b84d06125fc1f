import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { errorCodeOf } from '../errors.ts';
import { hasPipe, openOwnPipe } from './windows-pipe.ts';

/** Distinguishes a process from every other one that ever ran, as far as the machine can tell. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the format of the machine, only to be compared; on Windows the number of its pipe; null if it cannot be known. */
  readonly startTime: string | null;
  /** Changes with each boot of the machine; null where there is none (macOS, Windows). */
  readonly bootId: string | null;
  /** The namespace that the pid belongs to; null where there is none. */
  readonly namespace: string | null;
  readonly host: string;
}

/** Identifies this process. */
export async function identifyThisProcess(): Promise<ProcessIdentity> {
  const [startTime, bootId, namespace] = await Promise.all([
    WINDOWS ? openOwnPipe() : readStartTime(process.pid),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim(), toNull),
    readlink('/proc/self/ns/pid').catch(toNull),
  ]);
  return { pid: process.pid, startTime: startTime ?? null, bootId, namespace, host: hostname() };
}

/** True while a process exists, or while its pid does if there is no more to compare. */
export async function isProcessAlive({ pid, startTime }: Pick<ProcessIdentity, 'pid' | 'startTime'>): Promise<boolean> {
  if (WINDOWS) return startTime === null ? processExists(pid) : hasPipe({ pid, number: startTime });
  const now = await readStartTime(pid);
  return now !== undefined && (now === null || startTime === null || now === startTime);
}

const WINDOWS = process.platform === 'win32';

/** Reads when a process started; undefined if it is gone, null if it exists but the time cannot be read. */
export async function readStartTime(pid: number): Promise<string | null | undefined> {
  const startTime = process.platform === 'linux' ? await readStartTimeFromProc(pid) : await readStartTimeFromPs(pid);
  if (startTime !== null) return startTime;
  return processExists(pid) ? null : undefined;
}

const toNull = (): null => null;

/** A zombie is dead; only its parent has not collected it yet. */
const DEAD_STATUS = /^[ZX]/;

/** Field 22 of stat: ticks since boot. The command name, field 2, may contain blanks and brackets. */
async function readStartTimeFromProc(pid: number): Promise<string | null | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(toNull);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields?.[0] === undefined) return null;
  return DEAD_STATUS.test(fields[0]) ? undefined : (fields[19] ?? null);
}

/** For machines without /proc. Locale and time zone are fixed, because users may change theirs. */
export async function readStartTimeFromPs(pid: number): Promise<string | null | undefined> {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC0' };
  const result = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env }).catch(toNull);
  const [, status, startTime] = result?.stdout.match(/^\s*(\S+)\s+(.+?)\s*$/) ?? [];
  if (status === undefined || startTime === undefined) return null;
  return DEAD_STATUS.test(status) ? undefined : startTime;
}

/** Signal 0 only checks. EPERM means that the process exists but belongs to another user. */
function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) === 'EPERM';
  }
}
