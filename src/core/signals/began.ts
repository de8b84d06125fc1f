import type { Rules } from '../../language/policy.ts';
import type { Session } from '../../language/position.ts';
import { isPrompt } from '../../language/state-names.ts';
import { endAgent } from '../answers/end-agent.ts';
import { takeGuard } from '../answers/state-failure.ts';
import {
  type Agent,
  countedVisits,
  type RunningTurn,
  type SessionUse,
  turnFileOf,
  turnSessionOf,
  visitCount,
} from '../run/agent.ts';
import type { Event, Step } from '../run/event.ts';
import { findReserveHold, type Quota } from '../run/quota.ts';
import { withQuota } from '../run/quota-hold.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { handOver } from '../run/say.ts';
import { promptToSend } from '../turns/compaction.ts';
import { capOfNextTurn, claudeCapacity, toKeptCap } from '../turns/turn-cap.ts';
import type { Began, Unreadable } from './signal.ts';

/** Puts a turn on record, or refuses it where a limit has been reached. */
export function handleBegan(run: Run, signal: Began): Step {
  const agent = getAgent(run, signal.agent);
  if (agent.phase.kind !== 'ready') throw new Error(`${agent.id} is ${agent.phase.kind}: it cannot begin a turn`);
  if (run.stop !== null) return { run, events: [] };
  if (signal.quota !== undefined) return beginWithQuota(run, signal, signal.quota);
  const isClaudeTurn = isPrompt(turnFileOf(agent));
  if (isClaudeTurn && mustWait(run)) return { run, events: [] };
  const enteringRules = agent.rules === null ? signal.rules : null;
  const refusal = enteringRules === null ? undefined : refuseAtLimit(run, agent, enteringRules, signal.at);
  if (refusal !== undefined) return refusal;

  const turn: RunningTurn = {
    number: agent.turns + 1,
    prompt: isClaudeTurn ? promptToSend(agent.phase.prompt, turnSessionOf(agent)) : agent.phase.prompt,
    session: isClaudeTurn ? sessionUse(turnSessionOf(agent), signal.sessionId) : null,
    startedAt: signal.at,
    capMicros: isClaudeTurn ? capOf(run, agent.state) : null,
  };
  const words = handOver(agent, turn, signal.at);
  const running: Agent = {
    ...agent,
    turns: turn.number,
    tries: agent.tries + 1,
    ...rulesAfter(agent, signal.rules),
    sessionUse: agent.sessionUse ?? (agent.evaluation === null ? (turn.session?.kind ?? null) : null),
    ...(enteringRules !== null && countVisit(agent, enteringRules)),
    messages: words.messages,
    refused: agent.refused.length === 0 ? agent.refused : [],
    phase: { kind: 'running', turn },
  };
  const eventBase = { at: signal.at, agent: agent.id, state: agent.state };
  const started: Event = {
    kind: 'turn_started',
    ...eventBase,
    turn: turn.number,
    evaluator: agent.evaluation?.file ?? null,
    prompt: turn.prompt.kind,
    session: turn.session,
    ...(signal.snapshot !== undefined && { snapshot: signal.snapshot }),
  };
  return {
    run: withAgent({ ...run, iterations: run.iterations + (enteringRules === null ? 0 : 1) }, running),
    events: [
      ...signal.warnings.map((message): Event => ({ kind: 'warning', ...eventBase, message })),
      started,
      ...words.events,
    ],
  };
}

/** Begins a turn once the run knows what others have learned of its quota. */
function beginWithQuota(run: Run, { quota: _, ...signal }: Began, quota: Quota): Step {
  const known = withQuota(run, quota, signal.at);
  const begun = handleBegan(known.run, signal);
  return { ...begun, events: [...known.events, ...begun.events] };
}

/** True if a Claude turn has to wait although it was due: another one has just brought news of the quota. */
const mustWait = (run: Run): boolean =>
  run.hold !== null || findReserveHold(run) !== null || (run.quota !== null && claudeCapacity(run).slots <= 0);

/** Counts a visit that begins; within the call only if the state's limit is about that. */
function countVisit(agent: Agent, { guards }: Rules): Pick<Agent, 'visits' | 'callVisits'> {
  const { visits, callVisits, state } = agent;
  const isPerCall = guards?.maxVisitsPer === 'call';
  return {
    visits: { ...visits, [state]: visitCount(agent) + 1 },
    callVisits: isPerCall ? { ...callVisits, [state]: countedVisits(agent, 'call') + 1 } : callVisits,
  };
}

/** Applies the rules in the file of a turn to its agent. The rules of an evaluator do not replace those of the state. */
function rulesAfter({ evaluation, rules }: Agent, read: Rules | null): Pick<Agent, 'rules' | 'evaluation'> {
  if (evaluation === null || read === null) return { rules: read ?? rules, evaluation };
  return { rules, evaluation: { ...evaluation, repeatable: read.repeatable === true } };
}

/** The cap of a turn that begins. Where `due` would not have let it begin, it is the least there is. */
function capOf(run: Run, state: string): number | null {
  return run.options.budgetMicros === null ? null : toKeptCap(capOfNextTurn(run, state, claudeCapacity(run)) ?? 1);
}

/** The step that stops the run when it has entered as many states as `max_iterations` allows; undefined below that limit. */
function refuseAtIterationLimit(run: Run, { id, state }: Agent, at: number): Step | undefined {
  const refused = { agent: id, state };
  const { maxIterations } = run.options;
  if (maxIterations === null || run.iterations < maxIterations) return undefined;
  const stop = { kind: 'iterations' } as const;
  return { run: { ...run, stop }, events: [{ kind: 'run_stopping', at, stop, refused }] };
}

/** The step that keeps an agent from entering its state because of a limit; undefined if no limit applies. */
function refuseAtLimit(run: Run, agent: Agent, rules: Rules, at: number): Step | undefined {
  const atIterationLimit = refuseAtIterationLimit(run, agent, at);
  if (atIterationLimit !== undefined) return atIterationLimit;
  const { maxVisits, guards } = rules;
  if (maxVisits === null || countedVisits(agent, guards?.maxVisitsPer ?? 'agent') < maxVisits) return undefined;
  const guarded = leadPast(run, { ...agent, rules }, maxVisits, at);
  return guarded ?? endAgent(run, agent, { kind: 'limited', maxVisits }, at);
}

/** Follows the guard of `max_visits`. States that lead past each other, without a turn in between, stop the agent. */
function leadPast(run: Run, agent: Agent, maxVisits: number, at: number): Step | undefined {
  const { state, refused } = agent;
  if (refused.includes(state)) return undefined;
  const message = `${state} was entered ${maxVisits} times, as often as max_visits allows`;
  return takeGuard(run, { ...agent, refused: [...refused, state] }, { outcome: 'max_visits', message }, at);
}

function sessionUse(session: Session | null, newId: string): SessionUse {
  if (session === null) return { kind: 'new', id: newId };
  if (session.kind === 'open') return { kind: 'resume', id: session.id };
  return { kind: 'fork', id: newId, from: session.of };
}

/**
 * Pauses an agent whose state cannot be read, or whose turn would use changed code: a resume continues from here once the file
 * is corrected or the change accepted. If the limit of iterations is reached, that is reported instead.
 */
export function handleUnreadable(run: Run, { agent: id, at, message, changed }: Unreadable): Step {
  const agent = getAgent(run, id);
  if (agent.phase.kind !== 'ready') throw new Error(`${id} is ${agent.phase.kind}: it does not read its state`);
  const refusal = agent.rules === null && run.stop === null ? refuseAtIterationLimit(run, agent, at) : undefined;
  if (refusal !== undefined) return refusal;
  const why = changed === undefined ? 'unreadable' : 'changed_code';
  const phase = { kind: 'paused', why, message, prompt: agent.phase.prompt, ...(changed && { changed }) } as const;
  return {
    run: withAgent(run, { ...agent, phase }),
    events: [{ kind: 'agent_paused', at, agent: id, state: agent.state, why, message }],
  };
}
