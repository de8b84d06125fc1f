import { archivedCount } from '../core/run/archive.ts';
import type { Ledger } from '../core/run/ledger.ts';
import { ledgerOf, type Run } from '../core/run/run.ts';
import { type AgentStatus, type ObservedStatus, type OwnerInfo, observeAgent } from '../core/run/status.ts';
import { isCutShort } from '../core/signals/resumed.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { nearest } from '../language/text/nearest.ts';
import { noSuchRunError } from './opened-run.ts';
import type { JournalCoverage } from './run-file.ts';

/** A run as seen from outside. `owner` is null unless the run is marked as running and has an owner on record. */
export interface ObservedRun {
  readonly run: Run;
  readonly observedStatus: ObservedStatus;
  readonly owner: OwnerInfo | null;
  /** The reason why a run in a database waits, such as a missing node; left out if it does not. */
  readonly waitsFor?: string;
  /** The agents whose turn is on record and waits for a slot of its node; left out if there are none. */
  readonly queued?: readonly string[];
  /** Sentences about files of the run that are damaged or missing. */
  readonly damage: readonly string[];
  readonly journal: JournalCoverage;
  /** The number of processes of Claude Code that the run keeps open for several turns; left out where they cannot be seen. */
  readonly openConversations?: number;
}

/** A run in a list. `owner` is null unless the run is marked as running and has an owner on record. */
export interface RunSummary extends Pick<Run, 'id' | 'name' | 'workflow' | 'startedAt' | 'rerunOf'> {
  readonly kind: 'run';
  readonly observedStatus: ObservedStatus;
  readonly ledger: Ledger;
  /** The number of agents in each phase, archived ones included; phases without agents are left out. */
  readonly agents: Readonly<Partial<Record<AgentStatus, number>>>;
  readonly owner: OwnerInfo | null;
  /** True if it is paused because a turn was cut short, by a crash of the machine or otherwise: it continues only with a retry. */
  readonly isCutShort: boolean;
  /** Sentences about files of the run that are damaged or missing. */
  readonly damage: readonly string[];
}

/** A run that cannot be read; the others are still listed. */
export interface UnreadableRun {
  readonly kind: 'unreadable';
  readonly id: string;
  readonly error: RaymondError;
}

const startTimeOf = (run: RunSummary | UnreadableRun): number => (run.kind === 'run' ? run.startedAt : -1);

/** Summarizes an observed run for a list. */
export function toRunSummary({ run, observedStatus, owner, damage, queued }: ObservedRun): RunSummary {
  const archived = archivedCount(run);
  const agents: Partial<Record<AgentStatus, number>> = archived > 0 ? { ended: archived } : {};
  for (const agent of run.agents) {
    const status = observeAgent(agent, queued);
    agents[status] = (agents[status] ?? 0) + 1;
  }
  const { id, name, workflow, startedAt, rerunOf } = run;
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
    ...(rerunOf !== undefined && { rerunOf }),
    isCutShort: run.status === 'paused' && run.agents.some(isCutShort),
  };
}

/** Orders a list of runs: the latest first, unreadable ones last. */
export const compareSummaries = (a: RunSummary | UnreadableRun, b: RunSummary | UnreadableRun): number =>
  startTimeOf(b) - startTimeOf(a) || (a.id < b.id ? 1 : -1);

/** The space that a run takes, and when it last changed. */
export interface RunUsage {
  readonly bytes: number;
  /** When something of it was last written: the end of a run that has ended. */
  readonly changedAt: number;
  /** Why it cannot be removed; absent if it can. */
  readonly obstacle?: string;
}

/** The runs whose removal was cut short, and the notes about removals that this user has not signed: those count for nothing. */
export interface HalfRemovedRuns {
  readonly ids: readonly string[];
  readonly unsigned: readonly string[];
}

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
