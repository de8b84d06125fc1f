import { askModeOf } from '../../language/ask.ts';
import { type CountedPhase, countPhases } from './agent-index.ts';
import type { Run, RunStatus, StopReason } from './run.ts';

const STATUS_OF_STOP: Record<StopReason['kind'], RunStatus> = {
  interrupted: 'interrupted',
  budget: 'budget_exceeded',
  iterations: 'iteration_limit',
  usage_limit: 'paused',
  workspace: 'paused',
  stopped: 'paused',
};

/** The status that an idle agent gives to its run. For agents that would continue, the reason of the stop decides. */
const STATUS_AT_REST: Record<CountedPhase, RunStatus> = {
  ready: 'completed',
  running: 'completed',
  sleeping: 'completed',
  worktree: 'completed',
  withheld: 'budget_exceeded',
  limited: 'iteration_limit',
  paused: 'paused',
  asking: 'waiting',
  parked: 'waiting',
  joining: 'completed',
  timed: 'completed',
  cancelling: 'completed',
  failed: 'failed',
  settled: 'completed',
  ended: 'completed',
};

const PHASES = Object.keys(STATUS_AT_REST) as readonly CountedPhase[];

/** When a run stops, only running turns keep it running. */
const UNDER_WAY: ReadonlySet<CountedPhase> = new Set(['running', 'cancelling']);
const ACTIVE: ReadonlySet<CountedPhase> = new Set(['ready', 'running', 'sleeping', 'worktree', 'timed', 'cancelling']);
/** Where a run waits for answers, questions keep it running, too. */
const ACTIVE_OR_ASKING: ReadonlySet<CountedPhase> = new Set([...ACTIVE, 'asking', 'parked']);

/** Statuses by priority: a run for which several apply has the first of them. */
const BY_PRIORITY: readonly RunStatus[] = [
  'interrupted',
  'budget_exceeded',
  'iteration_limit',
  'paused',
  'waiting',
  'failed',
  'completed',
];

/** The status of a run: `running` while something is under way or may start, or its clone is to be left; else how it ended. */
export const deriveRunStatus = (run: Run): RunStatus => (isLeavingWorkspace(run) ? 'running' : deriveAgentsStatus(run));

/** True if the clone of a run exists, no agent works in it any more, and it was not left since, even if a resume is still looking for it. */
export const isLeavingWorkspace = (run: Run): boolean => {
  const { workspace } = run;
  if (workspace === null || workspace.kind === 'left' || workspace.place === null) return false;
  return deriveAgentsStatus(run) !== 'running';
};

/** The status of a run as far as its agents are concerned. */
export function deriveAgentsStatus(run: Run): RunStatus {
  const { agents, stop } = run;
  const active = askModeOf(run) === 'wait' ? ACTIVE_OR_ASKING : ACTIVE;
  const counts = countPhases(agents);
  const phases = PHASES.filter((phase) => counts[phase] > 0);
  if (phases.some((phase) => (stop === null ? active : UNDER_WAY).has(phase))) return 'running';
  const statuses = new Set(phases.map((phase) => STATUS_AT_REST[phase]));
  // If all agents have ended, the stop came too late to matter.
  const hasUnfinished = phases.some((phase) => phase !== 'ended' && phase !== 'settled');
  if (stop !== null && (hasUnfinished || stop.kind === 'workspace')) statuses.add(STATUS_OF_STOP[stop.kind]);
  return BY_PRIORITY.find((status) => statuses.has(status)) ?? 'completed';
}

/** True if something else than questions keeps a run going. */
export const hasOtherWork = ({ agents }: Run): boolean => {
  const counts = countPhases(agents);
  return [...ACTIVE].some((phase) => counts[phase] > 0);
};

/** True if nothing keeps a run going but this many running turns. */
export const isRunningOnly = ({ agents }: Run, turns: number): boolean => {
  const counts = countPhases(agents);
  return [...ACTIVE].every((phase) => counts[phase] === (phase === 'running' ? turns : 0));
};

/** The more important one of two reasons to stop. */
export function strongerStop(a: StopReason | null, b: StopReason): StopReason {
  if (a === null) return b;
  return BY_PRIORITY.indexOf(STATUS_OF_STOP[b.kind]) < BY_PRIORITY.indexOf(STATUS_OF_STOP[a.kind]) ? b : a;
}
