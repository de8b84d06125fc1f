import { type Stats, statSync } from 'node:fs';
import { isFinished, isLive } from '../core/observed-status.ts';
import { findJournalDamage } from '../store/damage.ts';
import { findLayout, type StoreLayout } from '../store/layout.ts';
import { identifyThisProcess, type ProcessIdentity } from '../store/process-identity.ts';
import { listRunIds, summarizeRun } from '../store/runs.ts';
import type { RunListEntry } from './list-runs.ts';

interface Files {
  readonly state: Stats | undefined;
  readonly journal: Stats | undefined;
}

interface RememberedRun {
  readonly files: Files;
  readonly entry: RunListEntry;
}

/**
 * Lists runs again and again: a run is read anew only if its files have changed, or if a process may be driving it, because
 * that may die without a word.
 */
export class RunSummaries {
  private readonly remembered = new Map<string, RememberedRun>();

  /** The runs of a project folder, in no order. */
  async list(projectFolder: string): Promise<readonly RunListEntry[]> {
    const layout = findLayout(projectFolder);
    const here = await identifyThisProcess();
    const entries: RunListEntry[] = [];
    // Without a promise for each of thousands that have not changed.
    for (const id of await listRunIds(layout)) {
      const found = this.look(layout, id);
      entries.push('entry' in found ? found.entry : await this.read(layout, id, here, found.files));
    }
    return entries;
  }

  /** What is remembered of a run, if that is still true; else how its files look now. */
  private look(layout: StoreLayout, id: string): RememberedRun | { readonly files: Files } {
    const files = { state: lookAt(layout.stateFile(id)), journal: lookAt(layout.journalFile(id)) };
    const known = this.remembered.get(layout.stateFile(id));
    const isSame = known !== undefined && isSameFile(known.files.state, files.state);
    if (!isSame || !isSameFile(known.files.journal, files.journal) || mayChangeByItself(known.entry)) return { files };
    return known;
  }

  private async read(layout: StoreLayout, id: string, here: ProcessIdentity, files: Files): Promise<RunListEntry> {
    const entry = await readChecked(layout, id, here);
    this.remembered.set(layout.stateFile(id), { files, entry });
    return entry;
  }
}

async function readChecked(layout: StoreLayout, id: string, here: ProcessIdentity): Promise<RunListEntry> {
  const { entry, journal } = await summarizeRun(layout, id, here);
  if (entry.kind === 'unreadable' || journal === null) return entry;
  if (isLive(entry.observedStatus) || journal.offset > MAX_CHECKED_BYTES) return entry;
  const found = await findJournalDamage(id, layout.journalFile(id), journal);
  return found.length === 0 ? entry : { ...entry, damage: [...entry.damage, ...found] };
}

/** Of a longer journal, as of one that is being written, damage is found when the run is looked at by itself. */
const MAX_CHECKED_BYTES = 16 << 20;

const mayChangeByItself = (entry: RunListEntry): boolean =>
  entry.kind === 'run' && entry.owner !== null && !isFinished(entry.observedStatus);

/** Synchronous, because the way through the thread pool takes many times as long. */
const lookAt = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false });

const isSameFile = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a?.ino === b?.ino && a?.size === b?.size && a?.mtimeMs === b?.mtimeMs;
