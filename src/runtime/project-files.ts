import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { readEvents } from '../store/journal-events.ts';
import { findRaymondFolder, layoutOf, resolveDebugFolder } from '../store/layout.ts';

/** The config file of whoever works in this folder; it may not exist. */
export const findConfigFile = (cwd = process.cwd()): string => layoutOf(findRaymondFolder(cwd)).configFile;

/** All events of a run that is on disk, in order. */
export async function readRunEvents(id: string, cwd = process.cwd()): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const { event } of readEvents(layoutOf(findRaymondFolder(cwd)), id)) events.push(event);
  return events;
}

/** Where the debug files of a run are, or would be if it kept any. */
export const findDebugFolder = ({ id, startedAt }: Run, cwd = process.cwd()): Promise<string> =>
  resolveDebugFolder(layoutOf(findRaymondFolder(cwd)), id, startedAt);
