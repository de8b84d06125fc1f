import type { Phase } from './agent.ts';
import { tallyOf } from './roster.ts';
import type { Run, RunStatus, Stop } from './run.ts';

const STOPPED: Record<Stop['kind'], RunStatus> = {
  interrupted: 'interrupted',
  budget: 'budget_exceeded',
  iterations: 'iteration_limit',
  usage_limit: 'paused',
  stopped: 'paused',
};

/** What an agent that does nothing makes of its run. Those that would go on say nothing: what stopped them does. */
const AT_REST: Record<Phase['kind'], RunStatus> = {
  ready: 'completed',
  running: 'completed',
  sleeping: 'completed',
  withheld: 'budget_exceeded',
  limited: 'iteration_limit',
  paused: 'paused',
  failed: 'failed',
  ended: 'completed',
};

const PHASES = Object.keys(AT_REST) as readonly Phase['kind'][];

/** Once a run stops, only a turn under way keeps it running. */
const UNDER_WAY: ReadonlySet<Phase['kind']> = new Set(['running']);
const ACTIVE: ReadonlySet<Phase['kind']> = new Set(['ready', 'running', 'sleeping']);

/** Statuses from the one that matters most: a run that fits several has the first of them. */
const BY_WEIGHT: readonly RunStatus[] = [
  'interrupted',
  'budget_exceeded',
  'iteration_limit',
  'paused',
  'waiting',
  'failed',
  'completed',
];

/** The status of a run: `running` while something is under way or may start, else how it ended. */
export function statusOf({ agents, stop }: Run): RunStatus {
  const tally = tallyOf(agents);
  const phases = PHASES.filter((phase) => tally[phase] > 0);
  if (phases.some((phase) => (stop === null ? ACTIVE : UNDER_WAY).has(phase))) return 'running';
  const statuses = new Set(phases.map((phase) => AT_REST[phase]));
  // Where everybody has come to an end, nobody was stopped.
  if (stop !== null && phases.some((phase) => phase !== 'ended')) statuses.add(STOPPED[stop.kind]);
  return BY_WEIGHT.find((status) => statuses.has(status)) ?? 'completed';
}

/** Which of two reasons to stop tells the user more. */
export function stronger(a: Stop | null, b: Stop): Stop {
  if (a === null) return b;
  return BY_WEIGHT.indexOf(STOPPED[b.kind]) < BY_WEIGHT.indexOf(STOPPED[a.kind]) ? b : a;
}
