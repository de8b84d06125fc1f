import { deriveObservedStatus, type ObservedStatus, type OwnerInfo } from '../core/observed-status.ts';
import type { Run } from '../core/run.ts';
import { describeStateFileProblem } from './damage.ts';
import type { StoreLayout } from './layout.ts';
import { loadRun } from './load.ts';
import { ownerOf } from './owner.ts';
import type { ProcessIdentity } from './process-identity.ts';
import type { JournalCoverage } from './saved-run.ts';

/** A run as seen from outside. `owner` is null unless the run is marked as running and has an owner on record. */
export interface ObservedRun {
  readonly run: Run;
  readonly observedStatus: ObservedStatus;
  readonly owner: OwnerInfo | null;
  /** What keeps a run in a database from going on, such as a worker; left out if nothing does. */
  readonly waitsFor?: string;
  /** Sentences about files of the run that are damaged or missing. */
  readonly damage: readonly string[];
  readonly journal: JournalCoverage;
}

/** Observes a run that another process may be driving, without changing anything. */
export async function observeRun(layout: StoreLayout, id: string, here?: ProcessIdentity): Promise<ObservedRun> {
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
