import type { Run } from '../core/run.ts';
import { type Driver, type Standing, standingOf } from '../core/standing.ts';
import type { Layout } from './layout.ts';
import { loadRun } from './load.ts';
import { ownerOf } from './owner.ts';
import type { ProcessFacts } from './process-facts.ts';

/** A run as it is at this moment. `owner` is null unless the run says it is running and somebody is on record. */
export interface Seen {
  readonly run: Run;
  readonly standing: Standing;
  readonly owner: Driver | null;
}

/** Looks at a run that somebody may be driving, and leaves everything as it is. */
export async function lookAt(layout: Layout, id: string, here?: ProcessFacts): Promise<Seen> {
  for (;;) {
    const { run } = await loadRun(layout, id, { cut: false });
    if (run.status !== 'running') return { run, standing: run.status, owner: null };
    const found = await ownerOf(layout.run(id), here);
    const owner = found && { state: found.state, pid: found.facts?.pid ?? null, host: found.facts?.host ?? null };
    const standing = standingOf(run, owner?.state ?? null);
    if (standing !== 'crashed') return { run, standing, owner: owner ?? null };
    // The owner may have brought the run to its end between our two looks: only a run that stands still has crashed.
    if ((await loadRun(layout, id, { cut: false })).run.seq === run.seq) return { run, standing, owner: owner ?? null };
  }
}
