import { readdir } from 'node:fs/promises';
import { nearest } from '../core/nearest.ts';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { diskProblem } from './disk-problem.ts';
import type { Layout } from './layout.ts';
import { loadSnapshot, noSuchRun } from './load.ts';

/** The ids of all runs there are. */
export async function runIds(layout: Layout): Promise<readonly string[]> {
  const names = await readdir(layout.states).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw diskProblem(`${layout.states} cannot be read`, error, 'then try again.');
  });
  return names.flatMap((name) => name.match(/^([A-Za-z0-9_-]+)\.json$/)?.[1] ?? []).sort();
}

/** The id of the run that a user means: its id, the beginning of one and no other, or `last`. */
export async function findRun(layout: Layout, wanted: string): Promise<string> {
  const ids = await runIds(layout);
  if (ids.includes(wanted)) return wanted;
  if (ids.length === 0) throw noSuchRun(wanted, '', `There are no runs in ${layout.root} yet.`);
  if (wanted === 'last') return latest(layout, ids);
  const fitting = wanted === '' ? [] : ids.filter((id) => id.startsWith(wanted));
  const [only, second] = fitting;
  if (only === undefined) {
    throw noSuchRun(wanted, suggestion(near(wanted, ids)), `\`raymond list\` shows the runs of ${layout.root}.`);
  }
  if (second === undefined) return only;
  throw new RaymondError(`\`${wanted}\` may be any of ${fitting.length} runs: ${listed(fitting)}.`, {
    exitCode: EXIT.usage,
    hint: 'Write more of its id; "last" is the latest run of all.',
  });
}

/** The run that was started last. One that cannot be read is only taken where there is no other. */
async function latest(layout: Layout, ids: readonly string[]): Promise<string> {
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
function near(wanted: string, ids: readonly string[]): readonly string[] {
  const holding = wanted.length < 3 ? [] : ids.filter((id) => id.includes(wanted));
  if (holding.length > 0) return holding;
  const lengths = [wanted.length - 1, wanted.length, wanted.length + 1];
  const beginnings = new Set(ids.flatMap((id) => [id, ...lengths.map((length) => id.slice(0, length))]));
  const meant = nearest(wanted, beginnings);
  return meant === undefined || meant === '' ? [] : ids.filter((id) => id.startsWith(meant));
}

const MOST_MEANT = 3;

function suggestion(ids: readonly string[]): string {
  const meant = latestOf(ids, MOST_MEANT);
  const last = meant.at(-1);
  if (last === undefined) return '';
  return ` (did you mean ${meant.length === 1 ? last : `${meant.slice(0, -1).join(', ')} or ${last}`}?)`;
}

const MOST_LISTED = 5;

function listed(ids: readonly string[]): string {
  const left = ids.length - MOST_LISTED;
  return `${latestOf(ids, MOST_LISTED).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** So many of them in order, the latest if not all: ids mostly end in the time at which their run began. */
const latestOf = (ids: readonly string[], most: number): readonly string[] => ids.slice(-most);
