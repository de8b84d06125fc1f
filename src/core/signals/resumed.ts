import { askModeOf } from '../../language/ask.ts';
import { failUnasked } from '../answers/ask-person.ts';
import { followAnswer } from '../answers/follow-answer.ts';
import type { TurnAnswer } from '../answers/looked-up.ts';
import { mergeOptions } from '../options/options.ts';
import { type Agent, isTurnRepeatable, type TurnPrompt } from '../run/agent.ts';
import { isSettled } from '../run/done-phase.ts';
import type { Event, Step } from '../run/event.ts';
import { withQuota } from '../run/quota-hold.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { followAskAnswer, followAskTimeout } from './ask-ended.ts';
import { denyAll, followDecision } from './permission.ts';
import type { Resumed } from './signal.ts';
import { isOverBudget } from './turn-end.ts';
import { isUnpushed, openingEvent, reopenWorkspace } from './workspace.ts';

/** Lets a run continue where it stands. A run that has ended for good stays as it is. */
export function handleResumed(run: Run, signal: Resumed): Step {
  if (!canResume(run, signal.retry)) return { run, events: [] };
  const options = mergeOptions(run.options, signal.options);
  const resumable = run.agents.filter((agent) => canResumeAgent(agent, signal.retry));
  const workFolders = run.workFolders ?? signal.workFolders ?? null;
  const attended = signal.attended ?? false;
  const joins = run.joins || (signal.joins ?? false);
  const quota = signal.quota === undefined ? run.quota : signal.quota;
  const code = signal.code ?? run.code;
  const resumed = { ...run, options, workFolders, attended, joins, code, stop: null, hold: null };
  const known = withQuota(resumed, quota, signal.at);
  const asked = endQuestions(known.run, signal);
  let next = asked.run;
  const accepted = acceptedWarnings(run, signal);
  const events: Event[] = [
    { kind: 'run_resumed', at: signal.at, options },
    ...accepted,
    ...known.events,
    ...asked.events,
  ];
  if (isOverBudget(next)) {
    const stop = { kind: 'budget' } as const;
    const stopped = reopenWorkspace({ ...next, stop });
    return { run: stopped, events: [...events, { kind: 'run_stopping', at: signal.at, stop }] };
  }
  for (const { id } of resumable) {
    const agent = getAgent(next, id);
    // The join of an agent before it may have taken note of it: then it never continues.
    if (!canResumeAgent(agent, signal.retry)) continue;
    const agentStep = resumeAgent(next, agent, signal);
    next = agentStep.run;
    events.push(...agentStep.events);
  }
  next = reopenWorkspace(next);
  return { run: next, events: [...events, ...openingEvent(next, signal.at)] };
}

function acceptedWarnings({ agents: [main] }: Run, { accepted = [], at }: Resumed): readonly Event[] {
  if (main === undefined) return [];
  const { id: agent, state } = main;
  return accepted.map((file) => ({ kind: 'warning', at, agent, state, message: `changed code accepted: ${file}` }));
}

/** Ends the questions that were answered meanwhile, or whose time is over. */
function endQuestions(run: Run, { answers = [], timedOut = [], at }: Resumed): Step {
  const events: Event[] = [];
  const answersByAsk = new Map(answers.map((answer) => [answer.ask, answer]));
  const overdue = new Set(timedOut);
  let next = run;
  for (const agent of run.agents) {
    const { phase } = agent;
    for (const { id: ask } of agent.permissions) {
      const answer = answersByAsk.get(ask) ?? (overdue.has(ask) ? null : undefined);
      const decided = answer === undefined ? null : followDecision(next, getAgent(next, agent.id), ask, answer, at);
      next = decided?.run ?? next;
      events.push(...(decided?.events ?? []));
    }
    if (phase.kind !== 'asking') continue;
    const answer = answersByAsk.get(phase.ask);
    if (answer === undefined && !overdue.has(phase.ask)) continue;
    const ended =
      answer === undefined ? followAskTimeout(next, agent, phase.ask, at) : followAskAnswer(next, agent, answer, at);
    next = ended.run;
    events.push(...ended.events);
  }
  return { run: next, events };
}

/** True if an agent can continue or a stop can be lifted; otherwise the run has ended for good. */
export const canResume = (run: Run, retry: boolean): boolean =>
  isUnpushed(run) ||
  run.agents.some((agent) => canResumeAgent(agent, retry) || (run.stop !== null && !isSettled(agent)));

/** A failed agent, and one whose script may have done half its work, only continues if the user or the author permits it. */
function canResumeAgent(agent: Agent, retry: boolean): boolean {
  const { phase } = agent;
  if (isSettled(agent)) return false;
  if (phase.kind === 'failed') return retry;
  if (isCutShort({ phase })) return retry || isTurnRepeatable(agent);
  return true;
}

/** True if the last turn of an agent was cut short, so that nobody knows what it did. */
export const isCutShort = ({ phase }: Pick<Agent, 'phase'>): boolean =>
  phase.kind === 'paused' && phase.why === 'interrupted';

/** Puts an agent back to work, unless it is ready or its turn is under way. */
function resumeAgent(run: Run, agent: Agent, signal: Resumed): Step {
  const { phase } = agent;
  const { at } = signal;
  switch (phase.kind) {
    case 'withheld':
      return followKeptAnswer(run, agent, phase, signal);
    case 'limited':
      return startAgain(run, agent, at);
    case 'paused': {
      const again = makeReady(run, agent, phase.prompt, at);
      if (phase.answer === undefined) return again;
      const followed = followKeptAnswer(run, agent, { text: phase.answer, denials: [], folders: {} }, signal);
      return signal.retry && getAgent(followed.run, agent.id).phase.kind === 'paused' ? again : followed;
    }
    case 'asking':
      return askModeOf(run) === 'fail' ? failUnasked(run, agent, phase.question, at) : { run, events: [] };
    case 'parked':
      return askModeOf(run) === 'fail' ? denyAll(run, agent, at) : { run, events: [] };
    case 'sleeping':
      return phase.why === 'usage_limit' ? makeReady(run, agent, phase.prompt, at) : { run, events: [] };
    case 'failed':
      return startAgain(run, { ...agent, reminders: 0, retries: 0, tagRequired: false, denied: [] }, at);
    default:
      return { run, events: [] };
  }
}

/** Puts an agent back to work that was done. If it worked in a worktree of its own, it is opened again first. */
function startAgain(run: Run, agent: Agent, at: number): Step {
  if (agent.worktree === null) return makeReady(run, agent, { kind: 'state' }, at);
  const opening = { kind: 'worktree_opening', at, agent: agent.id, state: agent.state } as const;
  return {
    run: withAgent(run, { ...agent, phase: { kind: 'worktree', outcome: null } }),
    events: [agentResumed(agent, at), opening],
  };
}

/** Follows an answer that was kept. Where a folder was looked for once more, what is there now counts. */
function followKeptAnswer(
  run: Run,
  agent: Agent,
  { text, denials, folders, fingerprint }: Pick<TurnAnswer, 'text' | 'denials' | 'folders' | 'fingerprint'>,
  signal: Resumed,
): Step {
  const { at } = signal;
  const lookedUp = signal.lookedUp[agent.id];
  if (lookedUp === undefined) throw new Error(`nothing was looked up for the answer of ${agent.id} that was kept`);
  const answer: TurnAnswer = {
    ...lookedUp,
    folders: { ...folders, ...lookedUp.folders },
    text,
    denials,
    ...(fingerprint && { fingerprint }),
    at,
  };
  const followed = followAnswer(run, agent, answer);
  return { ...followed, events: [agentResumed(agent, at), ...followed.events] };
}

/** The answers that a resume follows, by agent. */
export const keptAnswers = (run: Run): readonly { readonly agent: Agent; readonly text: string }[] =>
  run.agents.flatMap((agent) => {
    const { phase } = agent;
    const text = phase.kind === 'withheld' ? phase.text : phase.kind === 'paused' ? phase.answer : undefined;
    return text === undefined ? [] : [{ agent, text }];
  });

function makeReady(run: Run, agent: Agent, prompt: TurnPrompt, at: number): Step {
  return {
    run: withAgent(run, { ...agent, phase: { kind: 'ready', prompt, since: run.seq } }),
    events: [agentResumed(agent, at)],
  };
}

const agentResumed = ({ id, state }: Agent, at: number): Event => ({ kind: 'agent_resumed', at, agent: id, state });
