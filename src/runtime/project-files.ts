import { existsSync } from 'node:fs';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { readEvents } from '../store/journal-events.ts';
import { findLayout, resolveDebugFolder } from '../store/layout.ts';

/** The path of the config file that applies in this folder; it may not exist. */
export const findConfigFile = (cwd = process.cwd()): string => findLayout(cwd).configFile;

/** Reads all events of a run that is on disk, in order. */
export async function readRunEvents(id: string, cwd = process.cwd()): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const { event } of readEvents(findLayout(cwd), id)) events.push(event);
  return events;
}

/** Finds the folder with the debug files of a run; null if the run keeps none, or the folder could not be made. */
export async function findDebugFolder({ id, startedAt, options }: Run, cwd = process.cwd()): Promise<string | null> {
  if (!options.debug) return null;
  const folder = await resolveDebugFolder(findLayout(cwd), id, startedAt);
  return existsSync(folder) ? folder : null;
}
