import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Phase } from '../core/agent.ts';
import type { Run } from '../core/run.ts';
import type { ObservedStatus, OwnerInfo } from '../core/observed-status.ts';
import { RaymondError } from '../errors.ts';
import type { StoreLayout } from './layout.ts';
import { identifyThisProcess, type ProcessIdentity } from './process-identity.ts';
import { listRunIds } from './runs.ts';
import { observeRun } from './observed-run.ts';

/** A run in a list. `owner` is null when the run does not say that it is running, or nobody ever drove it. */
export interface RunSummary extends Pick<Run, 'id' | 'name' | 'workflow' | 'startedAt'> {
  readonly kind: 'run';
  readonly observedStatus: ObservedStatus;
  readonly spentMicros: number;
  /** How many agents are doing what; what nobody does is left out. */
  readonly agents: Readonly<Partial<Record<Phase['kind'], number>>>;
  readonly owner: OwnerInfo | null;
}

/** A run that cannot be read. It must not keep the others from being listed. */
export interface UnreadableRun {
  readonly kind: 'unreadable';
  readonly id: string;
  readonly error: RaymondError;
}

/** Looking at a run hardly ever waits for anything: others are let in after so many. */
const RUNS_PER_TICK = 50;

/** All runs there are, the latest first; those that cannot be read come last. */
export async function listStoredRuns(layout: StoreLayout): Promise<readonly (RunSummary | UnreadableRun)[]> {
  const here = await identifyThisProcess();
  const runs: (RunSummary | UnreadableRun)[] = [];
  // One after the other: a folder full of runs would exhaust the open files.
  for (const id of await listRunIds(layout)) {
    runs.push(await summarizeRun(layout, id, here));
    if (runs.length % RUNS_PER_TICK === 0) await yieldToEventLoop();
  }
  return runs.sort((a, b) => startTimeOf(b) - startTimeOf(a) || (a.id < b.id ? 1 : -1));
}

const startTimeOf = (run: RunSummary | UnreadableRun): number => (run.kind === 'run' ? run.startedAt : -1);

async function summarizeRun(
  layout: StoreLayout,
  id: string,
  here: ProcessIdentity,
): Promise<RunSummary | UnreadableRun> {
  try {
    const { run, observedStatus, owner } = await observeRun(layout, id, here);
    const agents: Partial<Record<Phase['kind'], number>> = {};
    for (const { phase } of run.agents) agents[phase.kind] = (agents[phase.kind] ?? 0) + 1;
    const { name, workflow, startedAt, ledger } = run;
    const { spentMicros } = ledger;
    return { kind: 'run', id, name, observedStatus, workflow, startedAt, spentMicros, agents, owner };
  } catch (error) {
    if (error instanceof RaymondError) return { kind: 'unreadable', id, error };
    throw error;
  }
}
