import { readdir } from 'node:fs/promises';
import { nearest } from '../core/nearest.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { diskError } from './disk-error.ts';
import type { StoreLayout } from './layout.ts';
import { loadSnapshot, noSuchRunError } from './load.ts';

/** The ids of all runs there are. */
export async function listRunIds(layout: StoreLayout): Promise<readonly string[]> {
  const names = await readdir(layout.stateFolder).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw diskError(`${layout.stateFolder} cannot be read`, error, 'then try again.');
  });
  return names.flatMap((name) => name.match(/^([A-Za-z0-9_-]+)\.json$/)?.[1] ?? []).sort();
}

/** The id of the run that a user means: its id, the beginning of one and no other, or `last`. */
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

/** The run that was started last. One that cannot be read is only taken where there is no other. */
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

/** Runs that may be meant: those with the word in their id, as its last letters are, else those with nearly that beginning. */
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

/** So many of them in order, the latest if not all: ids mostly end in the time at which their run began. */
const lastIds = (ids: readonly string[], max: number): readonly string[] => ids.slice(-max);
