import { type AskAnswer, askModeOf } from '../../language/ask.ts';
import { addGrants, type Decision, parseDecision } from '../../language/permission.ts';
import { type Agent, recordedTurn, type TurnPrompt } from '../run/agent.ts';
import { indexOfAgent } from '../run/agent-index.ts';
import type { Event, Step } from '../run/event.ts';
import { isBlocked, isUnanswered, type PermissionQuestion } from '../run/permission.ts';
import { type Run, withAgent } from '../run/run.ts';
import { isRunningOnly } from '../run/status.ts';
import { workFoldersOf } from '../run/work-folders.ts';
import type { PermissionAnswered, PermissionAsked, PermissionClosed } from './signal.ts';

/** The denial of a tool that nobody has decided about in time. */
const NOBODY: Decision = { kind: 'deny', text: 'Nobody answered in time.' };
/** The denial of a tool in a run that is to ask nobody. */
const NOBODY_TO_ASK: Decision = { kind: 'deny', text: 'Nobody is to be asked.' };

/** Puts a question about a tool on record. What an adopted turn has asked before is known. */
export function handlePermissionAsked(run: Run, signal: PermissionAsked): Step {
  const { at, about, number, request, text, choices, timeoutMs } = signal;
  const agent = findAgent(run, about.agent);
  const turn = agent === undefined ? null : recordedTurn(agent.phase);
  if (agent?.phase.kind !== 'running' || turn?.number !== signal.turn || number <= (turn.asks ?? 0))
    return { run, events: [] };
  const untilMs = timeoutMs === null ? null : at + timeoutMs;
  const asked: PermissionQuestion = {
    id: `${agent.id}-${turn.number}.${number}`,
    turn: turn.number,
    question: {
      text,
      next: agent.state,
      timeoutMs,
      timeoutNext: null,
      displayFiles: [],
      uploads: null,
      choices,
      permission: request,
    },
    askedAt: at,
    untilMs,
    state: { kind: 'open' },
  };
  const next: Agent = {
    ...agent,
    permissions: [...agent.permissions, asked],
    phase: { kind: 'running', turn: { ...turn, asks: number } },
  };
  const { taskFolder } = workFoldersOf(run, agent);
  const { id: ask, question } = asked;
  return {
    run: withAgent(run, next),
    events: [{ kind: 'asked', at, agent: agent.id, state: agent.state, ask, question, untilMs, taskFolder }],
  };
}

/** Takes the word of a person on a tool. A second one changes nothing. */
export function handlePermissionAnswered(run: Run, { at, about, ask, answer }: PermissionAnswered): Step {
  const agent = findAgent(run, about.agent);
  return agent === undefined ? { run, events: [] } : followDecision(run, agent, ask, answer, at);
}

/** The run after a decision about a tool: null as the answer if its time is over. */
export function followDecision(run: Run, agent: Agent, ask: string, answer: AskAnswer | null, at: number): Step {
  const question = agent.permissions.find(({ id }) => id === ask);
  if (question === undefined || !isUnanswered(question)) return { run, events: [] };
  const { permission: request } = question.question;
  const decision = answer === null ? NOBODY : parseDecision(request, answer.text);
  if (decision === undefined) return { run, events: [] };
  const isOpen = question.state.kind === 'open';
  const by = answer?.by ?? '';
  const settled = { ...question, state: { kind: isOpen ? 'answered' : 'decided', decision, by } } as const;
  const permissions = agent.permissions.map((each) => (each === question ? settled : each));
  const granted = decision.kind === 'always' ? { ...run, grants: addGrants(run.grants, request) } : run;
  const base = { at, agent: agent.id, state: agent.state };
  const permission = { decision, turn: isOpen ? question.turn : null };
  const event: Event =
    answer === null
      ? { kind: 'ask_timed_out', ...base, ask, permission }
      : { kind: 'ask_answered', ...base, ...answer, permission };
  return { run: withAgent(granted, continueIfDecided(run, { ...agent, permissions })), events: [event] };
}

/** Settles a question whose decision the backend has, or which it does not ask any more. */
export function handlePermissionClosed(run: Run, { at, about, ask, outcome }: PermissionClosed): Step {
  const agent = findAgent(run, about.agent);
  if (agent === undefined || !agent.permissions.some(({ id }) => id === ask)) return { run, events: [] };
  const permissions = agent.permissions.filter(({ id }) => id !== ask);
  return {
    run: withAgent(run, { ...agent, permissions }),
    events: [{ kind: 'ask_closed', at, agent: agent.id, state: agent.state, ask, outcome }],
  };
}

/** Denies all tools that wait for a person, in a run that is to ask nobody any more. */
export function denyAll(run: Run, agent: Agent, at: number): Step {
  const events: Event[] = [];
  let next = run;
  for (const { id: ask } of agent.permissions.filter(isUnanswered)) {
    const { text } = NOBODY_TO_ASK;
    const answer = { ask, text: `deny: ${text}`, by: '--on-ask fail', answeredAt: at, files: [] };
    const denied = followDecision(next, findAgent(next, agent.id) ?? agent, ask, answer, at);
    next = denied.run;
    events.push(...denied.events);
  }
  return { run: next, events };
}

/** The agent after the end of a turn that tools of it have waited in: it waits for people, or has all their decisions. */
export function park(run: Run, agent: Agent, turn: number, prompt: TurnPrompt): Agent {
  const permissions = agent.permissions.map((each): PermissionQuestion => {
    if (each.turn !== turn) return each;
    const { state } = each;
    if (state.kind === 'open') return { ...each, state: { kind: 'parked' } };
    return state.kind === 'answered' ? { ...each, state: { ...state, kind: 'decided' } } : each;
  });
  return continueIfDecided(run, { ...agent, permissions, phase: { kind: 'parked', prompt } });
}

/** The events that questions about an agent's tools are settled by the end of its turn, except those that are left. */
export function closeQuestions(
  { id, state, permissions }: Agent,
  left: readonly PermissionQuestion[],
  at: number,
  isDelivered: boolean,
): readonly Event[] {
  return permissions
    .filter((each) => !left.includes(each))
    .map((each) => {
      const hasDecision = each.state.kind === 'answered' || each.state.kind === 'decided';
      const outcome = hasDecision && isDelivered ? 'delivered' : 'cancelled';
      return { kind: 'ask_closed', at, agent: id, state, ask: each.id, outcome };
    });
}

/** The agents whose processes wait for a person in vain: the run is to stop, or nothing else can be done and it is not to wait. */
export function agentsToPark(run: Run): readonly string[] {
  const isWaiting = askModeOf(run) === 'wait' && run.stop === null;
  const blocked = isWaiting ? [] : run.agents.filter(isBlocked);
  return run.stop !== null || isRunningOnly(run, blocked.length) ? blocked.map(({ id }) => id) : [];
}

const continueIfDecided = (run: Run, agent: Agent): Agent =>
  agent.phase.kind !== 'parked' || agent.permissions.some(isUnanswered)
    ? agent
    : { ...agent, phase: { kind: 'ready', prompt: agent.phase.prompt, since: run.seq } };

const findAgent = ({ agents }: Run, id: string): Agent | undefined => agents[indexOfAgent(agents, id)];
