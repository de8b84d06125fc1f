import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { LINUX, type ProcessEntry, processEntry, processTable } from './process-table.ts';
import { claimStart, readClaim, recordedWrapper, type WrapperRecord } from './turn-files.ts';
import { isRunningOnWindows } from './windows.ts';

/** Tells our own waiting wrappers from those of another process of Raymond. */
const THIS_PROCESS = randomUUID();
const READY = '//';

/** The marker that every process of a turn carries in its environment, so that none is ever lost. */
export const turnMarker = (
  { runMarker }: { readonly runMarker: string },
  { agent, number }: { readonly agent: string; readonly number: number },
): string => `${runMarker}/${agent}/${number}`;

/** The marker of a wrapper that waits for a command of this run. No turn has it: each names its agent. */
export const readyMarker = (runMarker: string): string => `${runMarker}${READY}${THIS_PROCESS}`;

/** True if any process of a turn is running: its wrapper, its group, or one that carries its marker. */
export async function isTurnAlive(dir: string, marker: string): Promise<boolean> {
  if (process.platform === 'win32') return isRunningOnWindows(dir);
  for (;;) {
    // Nearly always the wrapper is there, and then the process table need not be read.
    const record = recordedWrapper(dir);
    const wrapper = record && (await processEntry(record.pid));
    if (wrapper !== undefined && !wrapper.zombie && isWrapper(wrapper, record, marker)) return true;
    if ((await findTurnProcesses(dir, marker)).length > 0) return true;
    if (record !== undefined || readClaim(dir) !== 'wrapper') return false;
    if ((await findUnrecorded(marker)).some((entry) => !entry.marker?.endsWith(THIS_PROCESS))) return true;
    // Recorded since we looked: then that says which process it is.
    if (recordedWrapper(dir) === undefined) return false;
  }
}

/**
 * True if a command that no process is found for may still begin: a wrapper that waited has been told to run it. If it has not
 * claimed the turn yet, it is kept from that.
 */
export async function mayStillBegin(dir: string, marker: string): Promise<boolean> {
  if (!existsSync(dir)) return false;
  const claim = readClaim(dir);
  if (claim === 'none') return !(await claimStart(dir));
  const record = recordedWrapper(dir);
  if (claim === 'looker' || record !== undefined) return record !== undefined && isTurnAlive(dir, marker);
  return (await findUnrecorded(marker)).length > 0;
}

/** The wrappers of this run that wait for a command, or have one and no record of it yet: their groups have no command. */
async function findUnrecorded(marker: string): Promise<readonly ProcessEntry[]> {
  const table = await processTable();
  const isBusy = ({ pid }: ProcessEntry): boolean =>
    table.some(({ group, pid: other, zombie }) => group === pid && other !== pid && !zombie);
  return table.filter((entry) => entry.wrapper && !entry.zombie && isReadyFor(entry, marker) && !isBusy(entry));
}

/** True if it is a wrapper that waited, or waits, for a command of the same run. */
function isReadyFor(entry: ProcessEntry, marker: string): boolean {
  const at = entry.marker?.lastIndexOf(READY) ?? -1;
  return at > 0 && marker.startsWith(`${entry.marker?.slice(0, at)}/`);
}

/** Finds all processes of a turn that are not zombies. */
export function findTurnProcesses(dir: string, marker: string): Promise<readonly ProcessEntry[]> {
  return lookTwice(async () => {
    const record = recordedWrapper(dir);
    const table = await processTable();
    // Once the wrapper is gone its pid may be another group's; it is not, as long as a process with the marker is in the group.
    const isOurGroup = table.some(
      (entry) => isWrapper(entry, record, marker) || (entry.marker === marker && entry.group === record?.pid),
    );
    return table.filter((entry) => entry.marker === marker || (isOurGroup && entry.group === record?.pid));
  });
}

/** Finds all processes whose marker has this prefix: `<run id>/` finds those of a whole run. */
export function findMarkedProcesses(prefix: string): Promise<readonly ProcessEntry[]> {
  if (prefix === '') throw new Error('an empty prefix would be every turn of every run');
  return lookTwice(async () => (await processTable()).filter((entry) => entry.marker?.startsWith(prefix)));
}

/** Looks again if nothing is found: a process can start another and end during the look, so that neither is seen. */
async function lookTwice(look: () => Promise<readonly ProcessEntry[]>): Promise<readonly ProcessEntry[]> {
  const living = async () => (await look()).filter(({ pid, zombie }) => !zombie && pid !== process.pid);
  const found = await living();
  return found.length > 0 ? found : living();
}

function isWrapper(entry: ProcessEntry, record: WrapperRecord | undefined, marker: string): boolean {
  if (entry.pid !== record?.pid || entry.group !== entry.pid) return false;
  // A pid and a start time can come again after a reboot; the marker cannot.
  if (entry.marker === marker) return true;
  // One that had waited keeps the environment with which it started.
  if (entry.marker !== undefined) return entry.wrapper && entry.start === record.start && isReadyFor(entry, marker);
  if (record.start !== '' || LINUX) return entry.start === record.start;
  // Without a recorded start time: a process that got the pid later started later, too (`ps` cuts to seconds).
  return Date.parse(entry.start) <= record.writtenMs;
}
