import { setTimeout as delay } from 'node:timers/promises';
import { deriveObservedStatus } from '../../core/run/status.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import type { ProcessIdentity } from '../../process/identity.ts';
import type { ObservedRun } from '../run-summary.ts';
import { describeRunFileProblem, loadRun } from './load.ts';
import { ownerOf } from './owner.ts';

/** Observes a run that another process may be driving, without changing anything. */
export async function observeRun(layout: FolderLayout, id: string, here?: ProcessIdentity): Promise<ObservedRun> {
  for (;;) {
    const { run, journal, stateFileProblem } = await loadRun(layout, id, { cut: false });
    const damage = describeRunFileProblem(id, stateFileProblem);
    if (run.status !== 'running') return { run, observedStatus: run.status, owner: null, damage, journal };
    const found = await ownerOf(layout.runFolder(id), here);
    const owner = found && { state: found.state, pid: found.facts?.pid ?? null, host: found.facts?.host ?? null };
    const observedStatus = deriveObservedStatus(run, owner?.state ?? null);
    if (observedStatus !== 'crashed') return { run, observedStatus, owner: owner ?? null, damage, journal };
    // The owner may have ended the run between the two reads: only a run that has not moved has crashed.
    if ((await loadRun(layout, id, { cut: false })).run.seq === run.seq)
      return { run, observedStatus, owner: owner ?? null, damage, journal };
  }
}

const RELEASE_WITHIN_MS = 5_000;
const POLL_INTERVAL_MS = 50;

/** Waits for a process that has recorded the end of a run, and is about to release it. */
export async function waitForRelease(layout: FolderLayout, id: string): Promise<void> {
  const isOwned = async () => (await ownerOf(layout.runFolder(id)))?.state === 'alive';
  if (!(await isOwned()) || (await observeRun(layout, id)).run.status === 'running') return;
  for (let waitedMs = 0; waitedMs < RELEASE_WITHIN_MS && (await isOwned()); waitedMs += POLL_INTERVAL_MS)
    await delay(POLL_INTERVAL_MS);
}
