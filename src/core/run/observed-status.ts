import type { Agent, Phase } from './agent.ts';
import { isBlocked } from './permission.ts';
import type { Run, RunStatus } from './run.ts';

/**
 * The status of a run seen from outside. A run that is marked as running may be `stopping`, may be driven by a process
 * that cannot be checked from here (`elsewhere`), or may have lost its owner (`crashed`).
 */
export type ObservedStatus = RunStatus | 'stopping' | 'crashed' | 'elsewhere';

/** The state of the process that drives a run; `elsewhere` is on another machine or in another container. */
export type OwnerState = 'alive' | 'gone' | 'elsewhere' | 'unreadable';

/** The process that drives a run, or did; `pid` and `host` are null if they cannot be read. */
export interface OwnerInfo {
  readonly state: OwnerState;
  readonly pid: number | null;
  readonly host: string | null;
  /** The node that the process is, with the number of prompts that it runs at once; absent for runs in files. */
  readonly node?: { readonly name: string; readonly slots: number };
}

/**
 * The status of an agent seen from outside: a turn that waits for a slot of its node is not running yet, and an agent whose tool
 * waits for a person asks.
 */
export function observeAgent(agent: Agent, queued: readonly string[] = []): AgentStatus {
  const { phase } = agent;
  if (phase.kind === 'parked' || isBlocked(agent)) return 'asking';
  return phase.kind === 'running' && queued.includes(agent.id) ? 'queued' : phase.kind;
}

/** The status of an agent, seen from outside. */
export type AgentStatus = Exclude<Phase['kind'], 'parked'> | 'queued';

/** Derives the observed status from the run and the state of its owner. */
export function deriveObservedStatus(
  { status, stop }: Pick<Run, 'status' | 'stop'>,
  owner: OwnerState | null,
): ObservedStatus {
  if (status !== 'running') return status;
  if (owner === null || owner === 'gone') return 'crashed';
  if (owner !== 'alive') return 'elsewhere';
  return stop === null ? 'running' : 'stopping';
}

const FINISHED: ReadonlySet<ObservedStatus> = new Set<ObservedStatus>(['completed', 'failed']);

/** True if a run with this status has ended for good, unless failed agents are retried. */
export const isFinished = (status: ObservedStatus): boolean => FINISHED.has(status);

const LIVE: ReadonlySet<ObservedStatus> = new Set<ObservedStatus>(['running', 'stopping', 'elsewhere']);

/** True if a process drives a run with this status, as far as can be seen. */
export const isLive = (status: ObservedStatus): boolean => LIVE.has(status);
