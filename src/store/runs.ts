import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Phase } from '../core/agent.ts';
import { archivedCount } from '../core/archive.ts';
import { runIdProblem } from '../core/ids.ts';
import type { Ledger } from '../core/ledger.ts';
import { nearest } from '../core/nearest.ts';
import type { ObservedStatus, OwnerInfo } from '../core/observed-status.ts';
import { ledgerOf, type Run } from '../core/run.ts';
import { isCutShort } from '../core/signals/resumed.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { findJournalDamage } from './damage.ts';
import { diskError } from './disk-error.ts';
import type { StoreLayout } from './layout.ts';
import { loadSnapshot, noSuchRunError } from './load.ts';
import { type ObservedRun, observeRun } from './observed-run.ts';
import { hasOwner, ownerOf } from './owner.ts';
import { identifyThisProcess, type ProcessIdentity } from './process-identity.ts';
import type { JournalCoverage } from './saved-run.ts';

/** The ids of all runs, sorted: those with a state file, and those with nothing but a journal. */
export async function listRunIds(layout: StoreLayout): Promise<readonly string[]> {
  const [states, folders] = await Promise.all([namesIn(layout.stateFolder), namesIn(layout.runsFolder)]);
  const stateFiles = new Set(states);
  const isOnlyJournal = (id: string): boolean =>
    !stateFiles.has(`${id}.json`) &&
    !stateFiles.has(basename(layout.prunedFile(id))) &&
    runIdProblem(id) === undefined &&
    hasJournal(layout, id);
  const ids = states.flatMap((name) => name.match(/^([A-Za-z0-9_-]+)\.json$/)?.[1] ?? []);
  return [...ids, ...folders.filter(isOnlyJournal)].sort();
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw diskError(`${folder} cannot be read`, error, 'then try again.');
  });
}

/** An empty journal was left by a process that died before there was a run. */
const hasJournal = (layout: StoreLayout, id: string): boolean =>
  (statSync(layout.journalFile(id), { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Finds the run that a user refers to by its id, a unique prefix of it, or `last`. */
export const resolveRunId = async (layout: StoreLayout, reference: string): Promise<string> =>
  resolveReference(reference, await listRunIds(layout), layout.root, (ids) => findLatestRunId(layout, ids));

/** Finds the run that a user refers to, among those of a place. */
export async function resolveReference(
  reference: string,
  ids: readonly string[],
  place: string,
  findLatest: (ids: readonly string[]) => Promise<string>,
): Promise<string> {
  if (ids.includes(reference)) return reference;
  if (ids.length === 0) throw noSuchRunError(reference, '', `There are no runs in ${place} yet.`);
  if (reference === 'last') return findLatest(ids);
  const matching = reference === '' ? [] : ids.filter((id) => id.startsWith(reference));
  const [only, second] = matching;
  if (only === undefined) {
    throw noSuchRunError(
      reference,
      formatRunSuggestion(findSimilarIds(reference, ids)),
      `\`raymond list\` shows the runs of ${place}.`,
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
  /** Whether it is paused because a turn was cut short, by a crash of the machine or else: it goes on only with a retry. */
  readonly isCutShort: boolean;
  /** Sentences about files of the run that are damaged or missing. */
  readonly damage: readonly string[];
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
  return (await listSummarizedRuns(layout)).map(({ entry }) => entry);
}

/** Of older runs, journals are not checked any more: that takes a moment for each of them. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024;

/** Lists all runs like `listStoredRuns`, and looks for damage in their journals, those of the latest runs first. */
export async function listCheckedRuns(layout: StoreLayout): Promise<readonly (RunSummary | UnreadableRun)[]> {
  let bytes = 0;
  const checked: (RunSummary | UnreadableRun)[] = [];
  for (const { entry, journal } of await listSummarizedRuns(layout)) {
    bytes += journal?.offset ?? 0;
    if (entry.kind === 'run' && journal !== null && bytes <= MAX_CHECKED_BYTES) {
      const found = await findJournalDamage(entry.id, layout.journalFile(entry.id), journal);
      checked.push({ ...entry, damage: [...entry.damage, ...found] });
    } else checked.push(entry);
    if (checked.length % RUNS_PER_TICK === 0) await yieldToEventLoop();
  }
  return checked;
}

/** A run in a list, and the part of its journal that counts; null if it cannot be read. */
interface SummarizedRun {
  readonly entry: RunSummary | UnreadableRun;
  readonly journal: JournalCoverage | null;
}

async function listSummarizedRuns(layout: StoreLayout): Promise<readonly SummarizedRun[]> {
  const here = await identifyThisProcess();
  const runs: SummarizedRun[] = [];
  // One by one: a folder full of runs would exhaust the open files.
  for (const id of await listRunIds(layout)) {
    runs.push(await summarizeRun(layout, id, here));
    if (runs.length % RUNS_PER_TICK === 0) await yieldToEventLoop();
  }
  return runs.sort(({ entry: a }, { entry: b }) => compareSummaries(a, b));
}

/**
 * Finds the runs that have lost their process. Quick even among thousands: only a run with an owner on record that is gone can
 * be one, so no more is read of the others. A run without that record is found only by a list.
 */
export async function findCrashedRunIds(layout: StoreLayout): Promise<readonly string[]> {
  const here = await identifyThisProcess();
  const crashed: string[] = [];
  for (const [at, id] of (await listRunIds(layout)).entries()) {
    if (at % RUNS_PER_TICK === 0) await yieldToEventLoop();
    const folder = layout.runFolder(id);
    if (!hasOwner(folder) || (await ownerOf(folder, here))?.state !== 'gone') continue;
    const { entry } = await summarizeRun(layout, id, here);
    if (entry.kind === 'run' && entry.observedStatus === 'crashed') crashed.push(id);
  }
  return crashed;
}

const startTimeOf = (run: RunSummary | UnreadableRun): number => (run.kind === 'run' ? run.startedAt : -1);

/** What a list says about a run. */
export function toRunSummary({ run, observedStatus, owner, damage }: ObservedRun): RunSummary {
  const archived = archivedCount(run);
  const agents: Partial<Record<Phase['kind'], number>> = archived > 0 ? { ended: archived } : {};
  for (const { phase } of run.agents) agents[phase.kind] = (agents[phase.kind] ?? 0) + 1;
  const { id, name, workflow, startedAt } = run;
  const ledger = ledgerOf(run);
  return {
    kind: 'run',
    id,
    name,
    observedStatus,
    workflow,
    startedAt,
    ledger,
    agents,
    owner,
    damage,
    isCutShort: run.status === 'paused' && run.agents.some(isCutShort),
  };
}

/** Orders a list of runs: the latest first, unreadable ones last. */
export const compareSummaries = (a: RunSummary | UnreadableRun, b: RunSummary | UnreadableRun): number =>
  startTimeOf(b) - startTimeOf(a) || (a.id < b.id ? 1 : -1);

/** Summarizes a run for a list; one that cannot be read says why. */
export async function summarizeRun(layout: StoreLayout, id: string, here: ProcessIdentity): Promise<SummarizedRun> {
  try {
    const observed = await observeRun(layout, id, here);
    return { entry: toRunSummary(observed), journal: observed.journal };
  } catch (error) {
    if (error instanceof RaymondError) return { entry: { kind: 'unreadable', id, error }, journal: null };
    throw error;
  }
}
