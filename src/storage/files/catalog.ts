import { readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isFinished } from '../../core/run/status.ts';
import { statIfAllowed } from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { identifyThisProcess } from '../../process/identity.ts';
import { isSameProcess } from '../../process/process-table.ts';
import { recordedExit, recordedWrapper } from '../../process/turn-files.ts';
import { compareSummaries, type RunSummary, type UnreadableRun } from '../run-summary.ts';
import type { RunCatalog } from '../storage.ts';
import { findJournalDamage } from './load.ts';
import { observeRun, waitForRelease } from './observed-run.ts';
import { ownerOf } from './owner.ts';
import { findHalfRemoved, measureRun, removeRun, type Signer } from './prune.ts';
import { listRunIds, resolveRunId, type SummarizedRun, summarizeRun } from './runs.ts';

/** Of a longer journal than this, observing a run does not check the part that it need not read; a list does. */
const MAX_OBSERVED_BYTES = 16 * 1024 * 1024;
/** The journals of older runs are not checked by a list: that takes a moment for each of them. */
const MAX_LISTED_BYTES = 256 * 1024 * 1024;
/** Reading a run is mostly synchronous, so the event loop gets its turn after this many. */
const RUNS_PER_TICK = 50;

/** Creates the catalog of the runs in a `.raymond` folder. The signer proves that this user has removed a run. */
export function createFileCatalog(layout: FolderLayout, signer: Signer): RunCatalog {
  const list = new RunList(layout);
  return {
    resolve: (reference) => resolveRunId(layout, reference),
    list: (depth) => list.read(depth === 'journals'),
    async observe(id, depth = 'summaries') {
      const observed = await observeRun(layout, id);
      const { journal } = observed;
      const damage =
        depth === 'summaries' || journal.offset > MAX_OBSERVED_BYTES
          ? []
          : await findJournalDamage(id, layout.journalFile(id), journal);
      const openConversations = countOpenConversations(layout, id);
      return { ...observed, damage: [...observed.damage, ...damage], openConversations };
    },
    async isDriven(id) {
      const owner = await ownerOf(layout.runFolder(id));
      return owner !== undefined && owner.state !== 'gone';
    },
    findWorkflow: async ({ workflow }) => ({ path: workflow.path }),
    measure: (id) => measureRun(layout, id),
    async remove(id) {
      await waitForRelease(layout, id);
      await removeRun(layout, id, signer);
    },
    findHalfRemoved: () => findHalfRemoved(layout, signer),
  };
}

/** The files that tell whether a run has changed. */
interface Files {
  readonly state: Stats | undefined;
  readonly journal: Stats | undefined;
}

interface RememberedRun extends SummarizedRun {
  readonly files: Files;
  /** The damage of its journal; null if that was not checked. */
  damage: readonly string[] | null;
}

/**
 * Lists runs again and again: a run is read anew only if its files have changed, or if a process may be driving it, because
 * that may die without a trace.
 */
class RunList {
  private readonly layout: FolderLayout;
  private remembered: ReadonlyMap<string, RememberedRun> = new Map();

  constructor(layout: FolderLayout) {
    this.layout = layout;
  }

  async read(checksJournals: boolean): Promise<readonly (RunSummary | UnreadableRun)[]> {
    const here = await identifyThisProcess();
    const found: RememberedRun[] = [];
    // One by one: a folder full of runs would exhaust the open files.
    for (const id of await listRunIds(this.layout)) {
      const { layout } = this;
      // Synchronous, because the way through the thread pool takes many times as long.
      const files = { state: statIfAllowed(layout.stateFile(id)), journal: statIfAllowed(layout.journalFile(id)) };
      const known = this.remembered.get(id);
      if (known !== undefined && isUnchanged(known, files)) {
        found.push(known);
        continue;
      }
      const read = await summarizeRun(layout, id, here);
      // The journal of a run that is being driven changes all the time: it is checked once.
      const damage = mayChangeByItself(read) ? (known?.damage ?? null) : null;
      found.push({ ...read, files, damage });
      if (found.length % RUNS_PER_TICK === 0) await yieldToEventLoop();
    }
    this.remembered = new Map(found.map((run) => [run.entry.id, run]));
    const sorted = found.sort(({ entry: a }, { entry: b }) => compareSummaries(a, b));
    if (checksJournals) await this.checkJournals(sorted);
    return sorted.map(({ entry, damage }) =>
      !checksJournals || damage === null || damage.length === 0 || entry.kind === 'unreadable'
        ? entry
        : { ...entry, damage: [...entry.damage, ...damage] },
    );
  }

  /** Looks for damage in the journals, those of the latest runs first. */
  private async checkJournals(runs: readonly RememberedRun[]): Promise<void> {
    let bytes = 0;
    for (const [at, run] of runs.entries()) {
      const { entry, journal } = run;
      bytes += journal?.offset ?? 0;
      if (run.damage !== null || entry.kind === 'unreadable' || journal === null || bytes > MAX_LISTED_BYTES) continue;
      run.damage = await findJournalDamage(entry.id, this.layout.journalFile(entry.id), journal);
      if (at % RUNS_PER_TICK === 0) await yieldToEventLoop();
    }
  }
}

const isUnchanged = (known: RememberedRun, files: Files): boolean =>
  isSameFile(known.files.state, files.state) &&
  isSameFile(known.files.journal, files.journal) &&
  !mayChangeByItself(known);

const mayChangeByItself = ({ entry }: SummarizedRun): boolean =>
  entry.kind === 'run' && entry.owner !== null && !isFinished(entry.observedStatus);

const isSameFile = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a?.ino === b?.ino && a?.size === b?.size && a?.mtimeMs === b?.mtimeMs;

/** Counts the processes of Claude Code that take several turns of a run and are there now, at work or between two turns. */
function countOpenConversations(layout: FolderLayout, run: string): number {
  const folder = layout.conversationsFolder(run);
  return listNames(folder).filter((name) => {
    const dir = join(folder, name);
    const wrapper = recordedExit(dir) === undefined ? recordedWrapper(dir) : undefined;
    return wrapper !== undefined && isSameProcess(wrapper) && isAlive(wrapper.pid);
  }).length;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
