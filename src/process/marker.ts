import type { ProcessEntry } from './process-entry.ts';
import { LINUX, processEntry, processTable } from './process-table.ts';
import { recordedWrapper, type WrapperRecord } from './turn-files.ts';
import { isRunningOnWindows } from './windows.ts';

/** Whether any process of a turn is running: its wrapper, its group, or one that carries its marker. */
export async function isTurnAlive(dir: string, marker: string): Promise<boolean> {
  if (process.platform === 'win32') return isRunningOnWindows(marker);
  // Nearly always the wrapper is there, and then the process table need not be read.
  const record = recordedWrapper(dir);
  const wrapper = record && (await processEntry(record.pid));
  if (wrapper !== undefined && !wrapper.zombie && isWrapper(wrapper, record, marker)) return true;
  return (await findTurnProcesses(dir, marker)).length > 0;
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
  if (entry.marker !== undefined) return entry.marker === marker;
  if (record.start !== '' || LINUX) return entry.start === record.start;
  // Without a recorded start time: a process that got the pid later started later, too (`ps` cuts to seconds).
  return Date.parse(entry.start) <= record.writtenMs;
}
