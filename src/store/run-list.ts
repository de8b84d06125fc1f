import { setImmediate as breathe } from 'node:timers/promises';
import type { Phase } from '../core/agent.ts';
import type { Run } from '../core/run.ts';
import type { Driver, Standing } from '../core/standing.ts';
import { RaymondError } from '../errors.ts';
import type { Layout } from './layout.ts';
import { type ProcessFacts, thisProcess } from './process-facts.ts';
import { runIds } from './runs.ts';
import { lookAt } from './standing.ts';

/** A run in a list. `owner` is null when the run does not say that it is running, or nobody ever drove it. */
export interface RunSummary extends Pick<Run, 'id' | 'name' | 'workflow' | 'startedAt'> {
  readonly kind: 'run';
  readonly standing: Standing;
  readonly spentMicros: number;
  /** How many agents are doing what; what nobody does is left out. */
  readonly agents: Readonly<Partial<Record<Phase['kind'], number>>>;
  readonly owner: Driver | null;
}

/** A run that cannot be read. It must not keep the others from being listed. */
export interface UnreadableRun {
  readonly kind: 'unreadable';
  readonly id: string;
  readonly error: RaymondError;
}

/** Looking at a run hardly ever waits for anything: others are let in after so many. */
const AT_A_TIME = 50;

/** All runs there are, the latest first; those that cannot be read come last. */
export async function listRuns(layout: Layout): Promise<readonly (RunSummary | UnreadableRun)[]> {
  const here = await thisProcess();
  const runs: (RunSummary | UnreadableRun)[] = [];
  // One after the other: a folder full of runs would exhaust the open files.
  for (const id of await runIds(layout)) {
    runs.push(await summary(layout, id, here));
    if (runs.length % AT_A_TIME === 0) await breathe();
  }
  return runs.sort((a, b) => startOf(b) - startOf(a) || (a.id < b.id ? 1 : -1));
}

const startOf = (run: RunSummary | UnreadableRun): number => (run.kind === 'run' ? run.startedAt : -1);

async function summary(layout: Layout, id: string, here: ProcessFacts): Promise<RunSummary | UnreadableRun> {
  try {
    const { run, standing, owner } = await lookAt(layout, id, here);
    const agents: Partial<Record<Phase['kind'], number>> = {};
    for (const { phase } of run.agents) agents[phase.kind] = (agents[phase.kind] ?? 0) + 1;
    const { name, workflow, startedAt, ledger } = run;
    const { spentMicros } = ledger;
    return { kind: 'run', id, name, standing, workflow, startedAt, spentMicros, agents, owner };
  } catch (error) {
    if (error instanceof RaymondError) return { kind: 'unreadable', id, error };
    throw error;
  }
}
