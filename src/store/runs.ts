import { readdir } from 'node:fs/promises';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Phase } from '../core/agent.ts';
import { archivedCount } from '../core/archive.ts';
import type { Ledger } from '../core/ledger.ts';
import { nearest } from '../core/nearest.ts';
import type { ObservedStatus, OwnerInfo } from '../core/observed-status.ts';
import { ledgerOf, type Run } from '../core/run.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { diskError } from './disk-error.ts';
import type { StoreLayout } from './layout.ts';
import { loadSnapshot, noSuchRunError } from './load.ts';
import { observeRun } from './observed-run.ts';
import { hasOwner, ownerOf } from './owner.ts';
import { identifyThisProcess, type ProcessIdentity } from './process-identity.ts';

/** The ids of all runs, sorted. */
export async function listRunIds(layout: StoreLayout): Promise<readonly string[]> {
  const names = await readdir(layout.stateFolder).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw diskError(`${layout.stateFolder} cannot be read`, error, 'then try again.');
  });
  return names.flatMap((name) => name.match(/^([A-Za-z0-9_-]+)\.json$/)?.[1] ?? []).sort();
}

/** Finds the run that a user refers to by its id, a unique prefix of it, or `last`. */
export async function resolveRunId(layout: StoreLayout, reference: string): Promise<string> {
  const ids = await listRunIds(layout);
  if (ids.includes(reference)) return reference;
  if (ids.length === 0) throw noSuchRunError(reference, '', `There are no runs in ${layout.root} yet.`);
  if (reference === 'last') return findLatestRunId(layout, ids);
  const matching = reference === '' ? [] : ids.filter((id) => id.startsWith(reference));
  const [only, second] = matching;
  if (only === undefined) {
    throw noSuchRunError(
      reference,
      formatRunSuggestion(findSimilarIds(reference, ids)),
      `\`raymond list\` shows the runs of ${layout.root}.`,
    );
  }
  if (second === undefined) return only;
  throw new RaymondError(`\`${reference}\` may be any of ${matching.length} runs: ${formatRunIds(matching)}.`, {
    exitCode: EXIT.usage,
    hint: 'Write more of its id; "last" is the latest run of all.',
  });
}

/** The run that was started last; an unreadable one only if there is no other. */
async function findLatestRunId(layout: StoreLayout, ids: readonly string[]): Promise<string> {
  let last = { id: ids.at(-1) ?? 'last', startedAt: -1 };
  for (const id of ids) {
    const startedAt = await loadSnapshot(layout, id).then(
      ({ run }) => run.startedAt,
      () => -1,
    );
    if (startedAt > last.startedAt || (startedAt === last.startedAt && id > last.id)) last = { id, startedAt };
  }
  return last.id;
}

/** Runs that may be meant: those whose id contains the reference, else those with a similar prefix. */
function findSimilarIds(reference: string, ids: readonly string[]): readonly string[] {
  const containing = reference.length < 3 ? [] : ids.filter((id) => id.includes(reference));
  if (containing.length > 0) return containing;
  const lengths = [reference.length - 1, reference.length, reference.length + 1];
  const prefixes = new Set(ids.flatMap((id) => [id, ...lengths.map((length) => id.slice(0, length))]));
  const prefix = nearest(reference, prefixes);
  return prefix === undefined || prefix === '' ? [] : ids.filter((id) => id.startsWith(prefix));
}

const MAX_SUGGESTIONS = 3;

function formatRunSuggestion(ids: readonly string[]): string {
  const suggested = lastIds(ids, MAX_SUGGESTIONS);
  const last = suggested.at(-1);
  if (last === undefined) return '';
  return ` (did you mean ${suggested.length === 1 ? last : `${suggested.slice(0, -1).join(', ')} or ${last}`}?)`;
}

const MAX_LISTED_RUNS = 5;

function formatRunIds(ids: readonly string[]): string {
  const left = ids.length - MAX_LISTED_RUNS;
  return `${lastIds(ids, MAX_LISTED_RUNS).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** The last `max` ids, which are mostly the latest: an id usually ends in its start time. */
const lastIds = (ids: readonly string[], max: number): readonly string[] => ids.slice(-max);

/** A run in a list. `owner` is null unless the run is marked as running and has an owner on record. */
export interface RunSummary extends Pick<Run, 'id' | 'name' | 'workflow' | 'startedAt'> {
  readonly kind: 'run';
  readonly observedStatus: ObservedStatus;
  readonly ledger: Ledger;
  /** The number of agents in each phase, archived ones included; phases without agents are left out. */
  readonly agents: Readonly<Partial<Record<Phase['kind'], number>>>;
  readonly owner: OwnerInfo | null;
}

/** A run that cannot be read; the others are listed all the same. */
export interface UnreadableRun {
  readonly kind: 'unreadable';
  readonly id: string;
  readonly error: RaymondError;
}

/** Reading a run is mostly synchronous, so the event loop gets its turn after this many. */
const RUNS_PER_TICK = 50;

/** Lists all runs, the latest first and unreadable ones last. */
export async function listStoredRuns(layout: StoreLayout): Promise<readonly (RunSummary | UnreadableRun)[]> {
  const here = await identifyThisProcess();
  const runs: (RunSummary | UnreadableRun)[] = [];
  // One by one: a folder full of runs would exhaust the open files.
  for (const id of await listRunIds(layout)) {
    runs.push(await summarizeRun(layout, id, here));
    if (runs.length % RUNS_PER_TICK === 0) await yieldToEventLoop();
  }
  return runs.sort((a, b) => startTimeOf(b) - startTimeOf(a) || (a.id < b.id ? 1 : -1));
}

/**
 * Finds the runs that have lost their process, in the background of other work. Quick even among thousands: only a run with an
 * owner on record that is gone can be one, so no more is read of the others. A run without that record is found only by a list.
 */
export async function findCrashedRunIds(layout: StoreLayout): Promise<readonly string[]> {
  const here = await identifyThisProcess();
  const crashed: string[] = [];
  for (const [at, id] of (await listRunIds(layout)).entries()) {
    if (at % RUNS_PER_TICK === 0) await yieldToEventLoop();
    const folder = layout.runFolder(id);
    if (!hasOwner(folder) || (await ownerOf(folder, here))?.state !== 'gone') continue;
    const run = await summarizeRun(layout, id, here);
    if (run.kind === 'run' && run.observedStatus === 'crashed') crashed.push(id);
  }
  return crashed;
}

const startTimeOf = (run: RunSummary | UnreadableRun): number => (run.kind === 'run' ? run.startedAt : -1);

async function summarizeRun(
  layout: StoreLayout,
  id: string,
  here: ProcessIdentity,
): Promise<RunSummary | UnreadableRun> {
  try {
    const { run, observedStatus, owner } = await observeRun(layout, id, here);
    const archived = archivedCount(run);
    const agents: Partial<Record<Phase['kind'], number>> = archived > 0 ? { ended: archived } : {};
    for (const { phase } of run.agents) agents[phase.kind] = (agents[phase.kind] ?? 0) + 1;
    const { name, workflow, startedAt } = run;
    return { kind: 'run', id, name, observedStatus, workflow, startedAt, ledger: ledgerOf(run), agents, owner };
  } catch (error) {
    if (error instanceof RaymondError) return { kind: 'unreadable', id, error };
    throw error;
  }
}
