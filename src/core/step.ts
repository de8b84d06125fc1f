import { inputText } from '../language/position.ts';
import { isDraining } from './answers/end-agent.ts';
import { noteEnd } from './joins/join.ts';
import type { Agent } from './run/agent.ts';
import { indexOfAgent } from './run/agent-index.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits, archiveEndedAgents } from './run/archive.ts';
import { isDone } from './run/done-phase.ts';
import type { Event, Step } from './run/event.ts';
import { settleQuota } from './run/quota-hold.ts';
import type { Run } from './run/run.ts';
import { deriveRunStatus, isLeavingWorkspace } from './run/status.ts';
import { handleAnswered } from './signals/answered.ts';
import { handleAskAnswered, handleAskTimedOut } from './signals/ask-ended.ts';
import { handleBegan } from './signals/began.ts';
import { handleCostFound } from './signals/cost-found.ts';
import { handleWorktreesDiscarded } from './signals/discarded.ts';
import { handleFailed } from './signals/failed.ts';
import { handleHomeLost } from './signals/home-lost.ts';
import { handleInterruptSignal } from './signals/interrupt.ts';
import { handleNoticed } from './signals/noticed.ts';
import { handlePermissionAnswered, handlePermissionAsked, handlePermissionClosed } from './signals/permission.ts';
import { handleQuotaReported } from './signals/quota-reported.ts';
import { handleResumed } from './signals/resumed.ts';
import { handleHeard, handleSaid } from './signals/said.ts';
import type { Signal } from './signals/signal.ts';
import { handleStopped } from './signals/stopped.ts';
import { handleUnreadable } from './signals/unreadable.ts';
import { handleUnrecorded } from './signals/unrecorded.ts';
import { handleWoke } from './signals/woke.ts';
import {
  handleWorkspaceLeft,
  handleWorkspaceMade,
  handleWorkspaceRefused,
  leavingWorkspaceEvent,
  openingEvent,
} from './signals/workspace.ts';
import { handleWorktreeClosed, handleWorktreeMade, handleWorktreeRefused } from './signals/worktree.ts';

type Handlers = { readonly [Kind in Signal['kind']]: (run: Run, signal: Extract<Signal, { kind: Kind }>) => Step };

const HANDLERS: Handlers = {
  began: handleBegan,
  unreadable: handleUnreadable,
  unrecorded: handleUnrecorded,
  answered: handleAnswered,
  failed: handleFailed,
  woke: handleWoke,
  worktree_made: handleWorktreeMade,
  worktree_refused: handleWorktreeRefused,
  worktree_closed: handleWorktreeClosed,
  home_lost: handleHomeLost,
  workspace_made: handleWorkspaceMade,
  workspace_refused: handleWorkspaceRefused,
  workspace_left: handleWorkspaceLeft,
  ask_answered: handleAskAnswered,
  ask_timed_out: handleAskTimedOut,
  said: handleSaid,
  heard: handleHeard,
  interrupt: handleInterruptSignal,
  permission_asked: handlePermissionAsked,
  permission_answered: handlePermissionAnswered,
  permission_closed: handlePermissionClosed,
  cost_found: handleCostFound,
  noticed: handleNoticed,
  quota_reported: handleQuotaReported,
  stopped: handleStopped,
  worktrees_discarded: handleWorktreesDiscarded,
  resumed: handleResumed,
};

/** The interpreter: computes what a run becomes when it receives a signal. Pure. Only tests have other limits. */
export function step(run: Run, signal: Signal, limits: ArchiveLimits = ARCHIVE_LIMITS): Step {
  const handle = HANDLERS[signal.kind] as (run: Run, signal: Signal) => Step;
  const handled = comesTooLate(run, signal) ? { run, events: [] } : settleJoins(run, handle(run, signal), signal);
  const next = settleQuota(handled, signal.at);
  return finishStep(run, { ...next, run: archiveEndedAgents(run, next.run, limits) }, signal.at);
}

/**
 * True if a join ended the agent meanwhile for which this was begun, or is about to once its worktree is left; or whether a turn
 * was prepared for one that has been put to sleep.
 */
function comesTooLate(run: Run, signal: Signal): boolean {
  if (!('agent' in signal)) return false;
  const agent = findAgent(run, signal.agent);
  if (agent === undefined || signal.kind === 'worktree_closed') return false;
  // Also one that is about to end has a home.
  if (signal.kind === 'home_lost') return agent.phase.kind === 'cancelled';
  if (PREPARED.has(signal.kind) && agent.phase.kind === 'sleeping') return true;
  return agent.phase.kind === 'cancelled' || isDraining(agent);
}

/** The signals that end the preparation of a turn. */
const PREPARED: ReadonlySet<Signal['kind']> = new Set(['began', 'unreadable', 'unrecorded']);

const findAgent = ({ agents }: Run, id: string): Agent | undefined => agents[indexOfAgent(agents, id)];

/** Lets the joins of the run take note of the agents that ended in this step. */
function settleJoins(before: Run, handled: Step, signal: Signal): Step {
  let next = handled;
  for (const id of 'agent' in signal ? [signal.agent] : changedAgents(before, handled.run)) {
    const [earlier, now] = [findAgent(before, id), findAgent(next.run, id)];
    // One that was done before, or that a join of this very step has taken note of, is counted already.
    if (earlier !== undefined && (isDone(earlier) || earlier.joinedBy !== now?.joinedBy)) continue;
    const noted = noteEnd(next.run, id, signal.at);
    next = { run: noted.run, events: [...next.events, ...noted.events] };
  }
  return next;
}

/** The agents that a signal without one has changed. */
function changedAgents(before: Run, { agents }: Run): readonly string[] {
  if (agents === before.agents) return [];
  return agents.flatMap((agent, index) => (agent === before.agents[index] ? [] : agent.id));
}

/** The events of a run that has just been created. */
export function initialEvents(run: Run): readonly Event[] {
  const { id, name, workflow, options, startedAt: at } = run;
  return [
    { kind: 'run_started', at, run: id, name, workflow, options },
    ...run.agents.map(({ id: agent, state, parent, cwd, input, variables }) => {
      return { kind: 'agent_started', at, agent, state, parent, cwd, input: inputText(input), variables } as const;
    }),
    ...openingEvent(run, at),
  ];
}

/** Counts the step, and adds the end of the run if this step has brought it about. */
function finishStep(before: Run, { run, events }: Step, at: number): Step {
  const status = deriveRunStatus(run);
  const settled = { ...run, status, seq: before.seq + 1 };
  // A run at rest gets another end if its clone is discarded that could not be pushed.
  const mayEnd =
    before.status === 'running' || before.status !== status || events.some(({ kind }) => kind === 'run_resumed');
  if (isLeavingWorkspace(run) && !(before.status === 'running' && isLeavingWorkspace(before)))
    return { run: settled, events: [...events, ...leavingWorkspaceEvent(run, at)] };
  if (status === 'running' || !mayEnd) return { run: settled, events };
  const { spentMicros, estimatedMicros, cannedMicros, tokens } = run.ledger;
  const ended: Event = { kind: 'run_ended', at, status, spentMicros, estimatedMicros, cannedMicros, tokens };
  return { run: settled, events: [...events, ended] };
}
