import type { RunSummary, UnreadableRun } from '../storage/run-summary.ts';
import { createSpendingFields } from './event-document.ts';
import { createRunFields } from './run-document.ts';
import type { RunListDocument } from './types.ts';

/** Counts the agents of a run that are live, have ended and have failed. Those that a join has ended are none of these. */
export function countAgents({ agents }: RunSummary): { live: number; ended: number; failed: number } {
  const { ended = 0, failed = 0, cancelled: _, ...others } = agents;
  return { live: Object.values(others).reduce((sum, count) => sum + count, 0), ended, failed };
}

/** Creates the JSON document of a list of runs. */
export const toRunListDocument = (runs: readonly (RunSummary | UnreadableRun)[]): RunListDocument => ({
  runs: runs.map(createRunListEntry),
});

/** Creates the JSON document of a run in a list. */
export function createRunListEntry(run: RunSummary | UnreadableRun): RunListDocument['runs'][number] {
  if (run.kind === 'unreadable') return { run_id: run.id, status: 'unreadable', error: run.error.message };
  return {
    ...createRunFields(run),
    ...createSpendingFields(run.ledger),
    agent_counts: countAgents(run),
    damage: run.damage,
    questions: run.agents.asking ?? 0,
  };
}
