import { failAgent, finishAgent, isDraining } from '../answers/end-agent.ts';
import { isReplay } from '../options/option-types.ts';
import { type Agent, recordedTurn, turnSubjectOf } from '../run/agent.ts';
import type { Event, Step } from '../run/event.ts';
import { type CostReport, unknownCost } from '../run/ledger.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { handleFailed } from './failed.ts';
import type { NodeLost } from './signal.ts';
import { afterCancelled, recordTurnEnd } from './turn-end.ts';

/** Lets an agent whose worker is gone continue at another one, or fail. */
export function handleNodeLost(run: Run, signal: NodeLost): Step {
  const agent = getAgent(run, signal.agent);
  // It has another one by now.
  if (agent.node !== signal.home) return { run, events: [] };
  return signal.to === null ? failWithHome(run, agent, signal) : moveHome(run, agent, { ...signal, to: signal.to });
}

/**
 * Gives an agent another home. A turn on record may have run: Claude Code is asked again, in the conversation as it was before; a
 * script is for the user to decide about, unless it is repeatable.
 */
function moveHome(run: Run, agent: Agent, signal: NodeLost & { readonly to: string }): Step {
  const { at, home, to, jitter, mayHaveRun } = signal;
  const { id, state } = agent;
  const moved = withAgent(run, { ...agent, node: to });
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
function failWithHome(run: Run, agent: Agent, { at, home, mayHaveRun }: NodeLost): Step {
  const { id, state, phase } = agent;
  const hint = agent.worktree === null && run.workspace === null ? FAIL_HINT : FAIL_HINT_WITH_WORK;
  const message = `${turnSubjectOf(agent)}: ${describeGone(home)}, with its conversation and its folder; ${hint}`;
  if (isDraining(agent) && phase.kind === 'worktree' && phase.outcome !== null) {
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

/** Its clone or worktree is on that node. */
const FAIL_HINT_WITH_WORK = '`resume --retry` tries again once that worker is back';

const describeGone = (home: string): string => `the worker ${home} is gone`;

/** Nobody knows what the turn has cost; a script costs nothing. */
const costOf = (run: Run, agent: Agent, mayHaveRun: boolean): CostReport | null =>
  mayHaveRun && recordedTurn(agent.phase)?.session != null ? unknownCost(isReplay(run.options)) : null;
