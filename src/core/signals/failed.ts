import { backOffMs, type Failure, REACTIONS, type Reaction } from '../../language/failure.ts';
import { modelOf, type Session } from '../../language/position.ts';
import { failState, sleep, takeGuard } from '../answers/state-failure.ts';
import {
  type Agent,
  isTurnRepeatable,
  type TurnPrompt,
  turnSessionOf,
  turnSubjectOf,
  withTurnSession,
} from '../run/agent.ts';
import type { Step } from '../run/event.ts';
import { coverUnknown } from '../run/ledger.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { strongerStop } from '../run/status.ts';
import { endCompaction } from '../turns/compaction.ts';
import { goOnOtherwise } from '../turns/interruption.ts';
import { waitsUntil } from '../turns/turn-wait.ts';
import { park } from './permission.ts';
import type { Failed } from './signal.ts';
import { afterCancelled, type FinishedTurn, isOverBudget, recordTurnEnd } from './turn-end.ts';

/** Reacts to a failed turn. Only a guard lets the agent leave its state because of a failure. */
export function handleFailed(run: Run, signal: Failed): Step {
  const { agent: id, at, failure, progress } = signal;
  const cost =
    failure.kind === 'disk' && signal.cost !== null
      ? coverUnknown(run.ledger, getAgent(run, id).state, null, signal.cost)
      : signal.cost;
  const ended = recordTurnEnd(run, {
    agent: id,
    at,
    cost,
    sessionKept: progress !== 'none',
    reportedSession: signal.reportedSession ?? null,
    model: signal.model,
    failure: failure.kind,
    denials: signal.denials ?? [],
    prints: signal.prints,
  });
  if (ended.isCancelled) return afterCancelled(ended, at);
  if (ended.interruption !== null) return goOnOtherwise(ended, ended.interruption, progress !== 'none', at);
  if (ended.isParked) {
    const { agent, turn } = ended;
    // A conversation that has nothing of the turn gets its prompt again, with the decisions.
    const prompt: TurnPrompt = progress === 'none' ? turn.prompt : { kind: 'permissions' };
    return { run: withAgent(ended.run, park(ended.run, agent, turn.number, prompt)), events: ended.events };
  }
  const reaction = chooseReaction(ended, failure);
  const next = givesUpCompaction(ended, reaction)
    ? endCompaction(ended.run, ended.agent, at, failure.message)
    : REACTION_HANDLERS[reaction](ended, signal, nextPrompt(ended, progress));
  return { run: next.run, events: [...ended.events, ...next.events] };
}

/** A script that was ended by its timeout may have done half of its work: only its author can say that it is tried again. */
function chooseReaction(ended: FinishedTurn, { kind }: Failure): Reaction | 'rerun' {
  if (kind === 'interrupted') return reactionToInterruption(ended);
  return kind === 'timeout' && ended.turn.session === null ? 'fail' : REACTIONS[kind];
}

/** An interrupted script runs again by itself if its author says that it may; if it is killed again and again, the agent pauses. */
function reactionToInterruption({ run, agent }: FinishedTurn): 'rerun' | 'pause' {
  return isTurnRepeatable(agent) && agent.retries < run.options.retries ? 'rerun' : 'pause';
}

/** True if an agent does without the summary of its conversation: only what passes by itself is waited for. */
function givesUpCompaction({ run, agent, turn }: FinishedTurn, reaction: Reaction | 'rerun'): boolean {
  if (turn.prompt.kind !== 'compact' || reaction === 'again' || reaction === 'hold') return false;
  return !(reaction === 'retry' || reaction === 'probe') || agent.retries >= run.options.retries;
}

/** The prompt of the next attempt: the same again, or a request to continue if the answer had begun. */
function nextPrompt({ turn }: FinishedTurn, progress: Failed['progress']): TurnPrompt {
  const { kind } = turn.prompt;
  // The conversation has the messages once it has the prompt.
  const hasBegun = progress === 'answer' || (progress === 'prompt' && (kind === 'said' || kind === 'permissions'));
  return hasBegun && kind !== 'compact' ? { kind: 'continue' } : turn.prompt;
}

type ReactionHandler = (over: FinishedTurn, signal: Failed, prompt: TurnPrompt) => Step;

const REACTION_HANDLERS: Record<Reaction | 'rerun', ReactionHandler> = {
  retry: ({ run, agent }, { at, failure, jitter }, prompt) =>
    failState(run, agent, failure, { at, jitter, prompt, limit: run.options.retries }),

  hold({ run, agent }, { at, failure }, prompt) {
    const { message, untilMs = at } = failure;
    if (!waitsUntil(run.options, untilMs, at)) {
      const stop = strongerStop(run.stop, { kind: 'usage_limit', untilMs, message });
      const ready: Agent = { ...agent, phase: { kind: 'ready', prompt, since: run.seq } };
      return { run: withAgent({ ...run, stop }, ready), events: [{ kind: 'run_stopping', at, stop }] };
    }
    return sleep(withHold(run, untilMs, message), agent, { why: 'usage_limit', untilMs, prompt }, failure, at, 0);
  },

  /**
   * Credentials that have worked may only be expiring and being renewed: all agents hold while one retries. Otherwise
   * only the user can help.
   */
  probe(ended, signal, prompt) {
    const { run, agent } = ended;
    const { at, failure, jitter } = signal;
    const count = agent.retries + 1;
    if (run.ledger.spentMicros === 0 || count > run.options.retries)
      return REACTION_HANDLERS.pause(ended, signal, prompt);
    const untilMs = at + backOffMs(count, jitter);
    const retrying = { ...agent, retries: count };
    return sleep(
      withHold(run, untilMs, failure.message),
      retrying,
      { why: 'retry', untilMs, prompt },
      failure,
      at,
      count,
    );
  },

  /** Only the user can put these things right, except that a conversation is too long: there a guard may lead elsewhere. */
  pause({ run, agent }, { at, failure }, prompt) {
    const { message, changed } = failure;
    const why = changed === undefined ? failure.kind : 'changed_code';
    const caught = { outcome: 'too_long', message: `${agent.state}: ${message}` } as const;
    const guarded = why === 'prompt_too_long' ? takeGuard(run, agent, caught, at, why) : undefined;
    if (guarded !== undefined) return guarded;
    return {
      run: withAgent(run, { ...agent, phase: { kind: 'paused', why, message, prompt, ...(changed && { changed }) } }),
      events: [{ kind: 'agent_paused', at, agent: agent.id, state: agent.state, why, message }],
    };
  },

  fail: ({ run, agent }, { at, failure, jitter }, prompt) =>
    failState(run, agent, failure, { at, jitter, prompt, limit: null }),

  /**
   * A turn may use up its own share of the budget while the run has money left: then it continues later, unless it spent
   * nothing.
   */
  stop({ run, agent }, { at, cost }, prompt) {
    const ready = withAgent(run, { ...agent, phase: { kind: 'ready', prompt, since: run.seq } });
    const canContinue = !isOverBudget(run) && (cost?.micros ?? 0) > 0;
    if (canContinue || run.stop?.kind === 'budget') return { run: ready, events: [] };
    const stop = strongerStop(run.stop, { kind: 'budget' });
    return { run: { ...ready, stop }, events: [{ kind: 'run_stopping', at, stop: { kind: 'budget' } }] };
  },

  rerun({ run, agent }, { at }, prompt) {
    const message = `${turnSubjectOf(agent)} was interrupted and runs again: it is repeatable`;
    return {
      run: withAgent(run, { ...agent, retries: agent.retries + 1, phase: { kind: 'ready', prompt, since: run.seq } }),
      events: [{ kind: 'warning', at, agent: agent.id, state: agent.state, message }],
    };
  },

  again: ({ run, agent }, _signal, prompt) => {
    return { run: withAgent(run, { ...agent, phase: { kind: 'ready', prompt, since: run.seq } }), events: [] };
  },

  /**
   * After a failed resume it forks the session, after that it starts a new one; always with the whole prompt, since
   * context may be lost.
   */
  step_down({ run, agent, turn }, { at, failure, jitter }) {
    const next = turn.session?.kind === 'resume' ? 'fork' : 'new';
    const lostSession = turn.session?.kind === 'fork' ? turn.session.from : (turn.session?.id ?? '');
    if (turn.session?.kind === 'new')
      return failState(run, agent, failure, { at, jitter, prompt: { kind: 'state' }, limit: null });
    const downgraded: Agent = {
      ...withTurnSession(agent, next === 'fork' ? branchOf(agent, lostSession) : null),
      phase: { kind: 'ready', prompt: { kind: 'state' }, since: run.seq },
    };
    const eventBase = { at, agent: agent.id, state: agent.state };
    return {
      run: withAgent(run, downgraded),
      events: [{ kind: 'session_lost', ...eventBase, session: lostSession, next, message: failure.message }],
    };
  },
};

const branchOf = (agent: Agent, session: string): Session => ({
  kind: 'branch',
  of: session,
  ...modelOf(turnSessionOf(agent)),
});

/** Keeps every Claude turn from starting until then, unless a later time is already set. */
function withHold(run: Run, untilMs: number, message: string): Run {
  return run.hold !== null && run.hold.untilMs >= untilMs ? run : { ...run, hold: { untilMs, message } };
}
