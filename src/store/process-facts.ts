import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { codeOf } from '../errors.ts';

/** What tells a process from every other one there ever was, as far as this machine can say. */
export interface ProcessFacts {
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
export async function thisProcess(): Promise<ProcessFacts> {
  const [startTime, bootId, namespace] = await Promise.all([
    startTimeOf(process.pid),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim(), nothing),
    readlink('/proc/self/ns/pid').catch(nothing),
  ]);
  return { pid: process.pid, startTime: startTime ?? null, bootId, namespace, host: hostname() };
}

/** When a process started; undefined if there is no such process any more, null if it is there but will not say. */
export async function startTimeOf(pid: number): Promise<string | null | undefined> {
  const said = process.platform === 'linux' ? await askProc(pid) : await askPs(pid);
  if (said !== null) return said;
  return isThere(pid) ? null : undefined;
}

const nothing = (): null => null;

/** A zombie is dead: its parent only has not looked. */
const DEAD = /^[ZX]/;

/** Field 22 of stat: ticks since boot. The name of the command, field 2, may hold blanks and brackets. */
async function askProc(pid: number): Promise<string | null | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(nothing);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields?.[0] === undefined) return null;
  return DEAD.test(fields[0]) ? undefined : (fields[19] ?? null);
}

/** For machines without /proc. The language and the time zone are fixed, for the user may change his. */
export async function askPs(pid: number): Promise<string | null | undefined> {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC0' };
  const said = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env }).catch(nothing);
  const [, status, startTime] = said?.stdout.match(/^\s*(\S+)\s+(.+?)\s*$/) ?? [];
  if (status === undefined || startTime === undefined) return null;
  return DEAD.test(status) ? undefined : startTime;
}

/** Signal 0 only asks. A process of someone else is there, though we may not touch it. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
