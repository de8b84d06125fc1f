import { deriveObservedStatus } from '../../core/run/status.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import type { ProcessIdentity } from '../../process/identity.ts';
import type { ObservedRun } from '../run-summary.ts';
import { describeStateFileProblem, loadRun } from './load.ts';
import { ownerOf } from './owner.ts';

/** Observes a run that another process may be driving, without changing anything. */
export async function observeRun(layout: FolderLayout, id: string, here?: ProcessIdentity): Promise<ObservedRun> {
  for (;;) {
    const { run, journal, stateFileProblem } = await loadRun(layout, id, { cut: false });
    const damage = describeStateFileProblem(id, stateFileProblem);
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
