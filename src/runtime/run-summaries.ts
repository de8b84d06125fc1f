import { statSync } from 'node:fs';
import { isFinished } from '../core/observed-status.ts';
import { findLayout, type StoreLayout } from '../store/layout.ts';
import { identifyThisProcess, type ProcessIdentity } from '../store/process-identity.ts';
import { listRunIds, summarizeRun } from '../store/runs.ts';
import type { RunListEntry } from './list-runs.ts';

/**
 * Lists runs again and again: a run is read anew only if its files have changed, or if a process may be driving it, because
 * that may die without a word.
 */
export class RunSummaries {
  private readonly remembered = new Map<string, { readonly stamp: string; readonly entry: RunListEntry }>();

  /** The runs of a project folder, in no order. */
  async list(projectFolder: string): Promise<readonly RunListEntry[]> {
    const layout = findLayout(projectFolder);
    const here = await identifyThisProcess();
    const entries: RunListEntry[] = [];
    for (const id of await listRunIds(layout)) entries.push(await this.summarize(layout, id, here));
    return entries;
  }

  private async summarize(layout: StoreLayout, id: string, here: ProcessIdentity): Promise<RunListEntry> {
    const key = layout.stateFile(id);
    const stamp = `${stampOf(key)} ${stampOf(layout.journalFile(id))}`;
    const known = this.remembered.get(key);
    if (known?.stamp === stamp && !mayChangeByItself(known.entry)) return known.entry;
    const { entry } = await summarizeRun(layout, id, here);
    this.remembered.set(key, { stamp, entry });
    return entry;
  }
}

const mayChangeByItself = (entry: RunListEntry): boolean =>
  entry.kind === 'run' && entry.owner !== null && !isFinished(entry.observedStatus);

/** Changes with the file. Synchronous, because the way through the thread pool takes many times as long. */
function stampOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}
