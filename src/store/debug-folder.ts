import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from './layout.ts';

/** The debug folder of a run: the one it has, else the one to be made. Who resumes it may be in another time zone. */
export async function debugFolder(layout: Layout, run: string, startedAtMs: number): Promise<string> {
  const names = await readdir(layout.debugs).catch((): string[] => []);
  const own = names.find((name) => name.startsWith(run) && /^_\d{8}_\d{6}$/.test(name.slice(run.length)));
  return own === undefined ? layout.debug(run, startedAtMs) : join(layout.debugs, own);
}
