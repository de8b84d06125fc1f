import { readdir } from 'node:fs/promises';
import type { Phase } from '../core/agent.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Run, RunStatus } from '../core/run.ts';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { diskProblem } from './disk-problem.ts';
import type { Layout } from './layout.ts';
import { loadRun, noSuchRun } from './load.ts';
import { type OwnerState, ownerOf } from './owner.ts';
import { type ProcessFacts, thisProcess } from './process-facts.ts';

/** A run in a list. `owner` is null when nobody drives it. */
export interface RunSummary {
  readonly kind: 'run';
  readonly id: string;
  readonly status: RunStatus;
  readonly workflow: Run['workflow'];
  readonly startedAt: number;
  readonly spentMicros: number;
  /** How many agents are doing what; what nobody does is left out. */
  readonly agents: Readonly<Partial<Record<Phase['kind'], number>>>;
  readonly owner: { readonly state: OwnerState; readonly pid: number | undefined } | null;
}

/** A run that cannot be read. It must not keep the others from being listed. */
export interface UnreadableRun {
  readonly kind: 'unreadable';
  readonly id: string;
  readonly error: RaymondError;
}

/** All runs there are, the latest first; those that cannot be read come last. */
export async function listRuns(layout: Layout): Promise<readonly (RunSummary | UnreadableRun)[]> {
  const here = await thisProcess();
  const runs: (RunSummary | UnreadableRun)[] = [];
  // One after the other: a folder full of runs would exhaust the open files.
  for (const id of await runIds(layout)) runs.push(await summary(layout, id, here));
  return runs.sort((a, b) => startOf(b) - startOf(a) || (a.id < b.id ? 1 : -1));
}

/** The id of the run that a user means: its id, the beginning of one and no other, or `last`. */
export async function findRun(layout: Layout, wanted: string): Promise<string> {
  const ids = await runIds(layout);
  if (ids.includes(wanted)) return wanted;
  if (ids.length === 0) throw noSuchRun(wanted, '', `There are no runs in ${layout.root} yet.`);
  if (wanted === 'last') return (await listRuns(layout))[0]?.id ?? wanted;
  const fitting = wanted === '' ? [] : ids.filter((id) => id.startsWith(wanted));
  const [only, second] = fitting;
  if (only === undefined) throw noSuchRun(wanted, didYouMean(wanted, ids));
  if (second === undefined) return only;
  throw new RaymondError(`\`${wanted}\` may be any of ${fitting.length} runs: ${someOf(fitting)}.`, {
    exitCode: EXIT.usage,
    hint: 'Write more of its id.',
  });
}

const startOf = (run: RunSummary | UnreadableRun): number => (run.kind === 'run' ? run.startedAt : -1);

const someOf = (ids: readonly string[]): string =>
  ids.length <= 5 ? ids.join(', ') : `${ids.slice(0, 5).join(', ')}, …`;

async function runIds(layout: Layout): Promise<readonly string[]> {
  const names = await readdir(layout.states).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw diskProblem(`${layout.states} cannot be read`, error, 'then try again.');
  });
  return names.flatMap((name) => name.match(/^([A-Za-z0-9_-]+)\.json$/)?.[1] ?? []).sort();
}

async function summary(layout: Layout, id: string, here: ProcessFacts): Promise<RunSummary | UnreadableRun> {
  try {
    const { run } = await loadRun(layout, id, { cut: false });
    const owner = await ownerOf(layout.run(id), here);
    const agents: Partial<Record<Phase['kind'], number>> = {};
    for (const { phase } of run.agents) agents[phase.kind] = (agents[phase.kind] ?? 0) + 1;
    const { status, workflow, startedAt, ledger } = run;
    const { spentMicros } = ledger;
    const driver = owner === undefined ? null : { state: owner.state, pid: owner.facts?.pid };
    return { kind: 'run', id, status, workflow, startedAt, spentMicros, agents, owner: driver };
  } catch (error) {
    if (error instanceof RaymondError) return { kind: 'unreadable', id, error };
    throw error;
  }
}
