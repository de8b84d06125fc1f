import { type Agent, recordedTurn, turnSubjectOf } from '../agent.ts';
import { failAgent, finishAgent, isLeaving } from '../end-agent.ts';
import type { Event, Step } from '../event.ts';
import type { CostReport } from '../ledger.ts';
import { isReplay } from '../option-types.ts';
import { getAgent, type Run, withAgent } from '../run.ts';
import type { HomeLost } from '../signal.ts';
import { handleFailed, lostTurnCost } from './failed.ts';
import { afterCancelled, recordTurnEnd } from './turn-end.ts';

/** Lets an agent whose worker is gone go on at another one, or fail. */
export function handleHomeLost(run: Run, signal: HomeLost): Step {
  const agent = getAgent(run, signal.agent);
  // It has another one by now.
  if (agent.home !== signal.home) return { run, events: [] };
  return signal.to === null ? failWithHome(run, agent, signal) : moveHome(run, agent, { ...signal, to: signal.to });
}

/**
 * Gives an agent another home. A turn on record may have run: Claude Code is asked again, in the conversation as it was before; a
 * script is for the user to decide about, unless it is repeatable.
 */
function moveHome(run: Run, agent: Agent, signal: HomeLost & { readonly to: string }): Step {
  const { at, home, to, jitter, mayHaveRun } = signal;
  const { id, state } = agent;
  const moved = withAgent(run, { ...agent, home: to });
  const events: readonly Event[] = [{ kind: 'rehomed', at, agent: id, state, from: home, to }];
  const turn = recordedTurn(agent.phase);
  if (turn === null) return { run: moved, events };
  const failure =
    turn.session === null && mayHaveRun
      ? ({
          kind: 'interrupted',
          message: `${describeGone(home)}, and nobody knows how far the script came; ${RETRY_HINT}`,
        } as const)
      : ({ kind: 'lost', message: describeGone(home) } as const);
  const cost = costOf(run, agent, mayHaveRun);
  const next = handleFailed(moved, { kind: 'failed', at, agent: id, failure, cost, progress: 'none', jitter });
  return { ...next, events: [...events, ...next.events] };
}

/** Fails an agent. No guard leads it elsewhere: it would be at the same worker. */
function failWithHome(run: Run, agent: Agent, { at, home, mayHaveRun }: HomeLost): Step {
  const { id, state, phase } = agent;
  const hint = agent.worktree === null && run.workspace === null ? FAIL_HINT : FAIL_HINT_WITH_WORK;
  const message = `${turnSubjectOf(agent)}: ${describeGone(home)}, with its conversation and its folder; ${hint}`;
  if (isLeaving(agent) && phase.kind === 'worktree' && phase.outcome !== null) {
    const ended = finishAgent(run, agent, phase.outcome, at);
    const left = `${describeGone(home)}: what is in the worktree of ${id} is not known`;
    return { run: ended.run, events: [{ kind: 'warning', at, agent: id, state, message: left }, ...ended.events] };
  }
  if (recordedTurn(phase) === null) return failAgent(run, agent, message, at);
  const cost = costOf(run, agent, mayHaveRun);
  const ended = recordTurnEnd(run, { agent: id, at, cost, sessionKept: false, failure: 'lost', denials: [] });
  if (ended.isCancelled) return afterCancelled(ended, at);
  const failed = failAgent(ended.run, ended.agent, message, at);
  return { run: failed.run, events: [...ended.events, ...failed.events] };
}

const RETRY_HINT = '`resume --retry` runs it again';
const FAIL_HINT = '`resume --retry` tries again, with `--when-lost rehome` at another worker';

/** What is in its clone or worktree is at that worker. */
const FAIL_HINT_WITH_WORK = '`resume --retry` tries again once that worker is back';

const describeGone = (home: string): string => `the worker ${home} is gone`;

/** Nobody knows what the turn has cost; a script costs nothing. */
function costOf(run: Run, agent: Agent, mayHaveRun: boolean): CostReport | null {
  if (!mayHaveRun || recordedTurn(agent.phase)?.session == null) return null;
  const unknown = { kind: 'estimated', micros: 0, ...(isReplay(run.options) && { canned: true }) } as const;
  return lostTurnCost(run, agent, unknown);
}
