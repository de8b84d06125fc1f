import { setTimeout as delay } from 'node:timers/promises';
import type { FolderLayout } from '../../disk/layout.ts';
import { observeRun } from './observed-run.ts';
import { ownerOf } from './owner.ts';

const RELEASE_WITHIN_MS = 5_000;
const POLL_INTERVAL_MS = 50;

/** Waits for a process that has recorded the end of a run, and is about to release it. */
export async function waitForRelease(layout: FolderLayout, id: string): Promise<void> {
  const isOwned = async () => (await ownerOf(layout.runFolder(id)))?.state === 'alive';
  if (!(await isOwned()) || (await observeRun(layout, id)).run.status === 'running') return;
  for (let waitedMs = 0; waitedMs < RELEASE_WITHIN_MS && (await isOwned()); waitedMs += POLL_INTERVAL_MS)
    await delay(POLL_INTERVAL_MS);
}
