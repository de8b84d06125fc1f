import { type Agent, isTurnRepeatable, type TurnPrompt } from '../agent.ts';
import { askModeOf } from '../ask.ts';
import { failUnasked } from '../ask-person.ts';
import { isSettled } from '../done-phase.ts';
import type { Event, Step } from '../event.ts';
import type { TurnAnswer } from '../follow.ts';
import { followAnswer } from '../follow-answer.ts';
import { mergeOptions } from '../options.ts';
import { withQuota } from '../quota-hold.ts';
import { getAgent, type Run, withAgent } from '../run.ts';
import type { Resumed } from '../signal.ts';
import { followAskAnswer, followAskTimeout } from './ask-ended.ts';
import { isOverBudget } from './turn-end.ts';
import { isUnpushed, openingEvent, reopenWorkspace } from './workspace.ts';

/** Lets a run go on where it stands. A run that has ended for good stays as it is. */
export function handleResumed(run: Run, signal: Resumed): Step {
  if (!canResume(run, signal.retry)) return { run, events: [] };
  const options = mergeOptions(run.options, signal.options);
  const resumable = run.agents.filter((agent) => canResumeAgent(agent, signal.retry));
  const workFolders = run.workFolders ?? signal.workFolders ?? null;
  const attended = signal.attended ?? false;
  const joins = run.joins || (signal.joins ?? false);
  const quota = signal.quota === undefined ? run.quota : signal.quota;
  const known = withQuota({ ...run, options, workFolders, attended, joins, stop: null, hold: null }, quota, signal.at);
  const asked = endQuestions(known.run, signal);
  let next = asked.run;
  const events: Event[] = [{ kind: 'run_resumed', at: signal.at, options }, ...known.events, ...asked.events];
  if (isOverBudget(next)) {
    const stop = { kind: 'budget' } as const;
    return { run: { ...next, stop }, events: [...events, { kind: 'run_stopping', at: signal.at, stop }] };
  }
  for (const { id } of resumable) {
    // A join of another agent may have changed it meanwhile.
    const agentStep = resumeAgent(next, getAgent(next, id), signal);
    next = agentStep.run;
    events.push(...agentStep.events);
  }
  next = reopenWorkspace(next);
  return { run: next, events: [...events, ...openingEvent(next, signal.at)] };
}

/** Ends the questions that were answered meanwhile, or whose time is over. */
function endQuestions(run: Run, { answers = [], timedOut = [], at }: Resumed): Step {
  const events: Event[] = [];
  const answersByAsk = new Map(answers.map((answer) => [answer.ask, answer]));
  const overdue = new Set(timedOut);
  let next = run;
  for (const agent of run.agents) {
    const { phase } = agent;
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

/** Whether an agent can go on or a stop can be lifted; otherwise the run has ended for good. */
export const canResume = (run: Run, retry: boolean): boolean =>
  isUnpushed(run) ||
  run.agents.some((agent) => canResumeAgent(agent, retry) || (run.stop !== null && !isSettled(agent)));

/** A failed agent, and one whose script may have done half its work, only goes on if the user or the author permits it. */
function canResumeAgent(agent: Agent, retry: boolean): boolean {
  const { phase } = agent;
  if (isSettled(agent)) return false;
  if (phase.kind === 'failed') return retry;
  if (isCutShort({ phase })) return retry || isTurnRepeatable(agent);
  return true;
}

/** Whether the last turn of an agent was cut short, so that nobody knows what it did. */
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
    case 'sleeping':
      return phase.why === 'usage_limit' ? makeReady(run, agent, phase.prompt, at) : { run, events: [] };
    case 'failed':
      return startAgain(run, { ...agent, reminders: 0, retries: 0, mustSay: false, denied: [] }, at);
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
  const answer = {
    text,
    denials,
    ...(fingerprint && { fingerprint }),
    folders: { ...folders, ...signal.folders[agent.id] },
    files: signal.files?.[agent.id] ?? {},
    results: signal.results?.[agent.id] ?? {},
    workflows: signal.workflows?.[agent.id] ?? {},
    matches: signal.matches?.[agent.id] ?? [],
    evaluated: signal.evaluated?.[agent.id] ?? { folders: {} },
    scope: signal.scopes?.[agent.id] ?? signal.scope,
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
