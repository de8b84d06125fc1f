import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreLayout } from './layout.ts';

/** The debug folder of a run: the one it has, else the one to be made. Who resumes it may be in another time zone. */
export async function findDebugFolder(layout: StoreLayout, run: string, startedAtMs: number): Promise<string> {
  const names = await readdir(layout.debugRoot).catch((): string[] => []);
  const existing = names.find((name) => name.startsWith(run) && /^_\d{8}_\d{6}$/.test(name.slice(run.length)));
  return existing === undefined ? layout.debugFolder(run, startedAtMs) : join(layout.debugRoot, existing);
}
