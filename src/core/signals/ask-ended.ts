import type { AskAnswer } from '../../language/ask.ts';
import { leftStateOf } from '../answers/left-state.ts';
import { type Agent, PER_STATE_DEFAULTS } from '../run/agent.ts';
import type { Event, Step } from '../run/event.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { goOnWithAnswer } from '../turns/interruption.ts';
import type { AskAnsweredSignal, AskTimedOutSignal } from './signal.ts';

/** Hands a person's answer to the state that the question names. An answer to a question that is over changes nothing. */
export function handleAskAnswered(run: Run, signal: AskAnsweredSignal): Step {
  const { kind: _kind, agent, at, ...answer } = signal;
  return followAskAnswer(run, getAgent(run, agent), answer, at);
}

/** Lets an agent continue where nobody answered in time. */
export const handleAskTimedOut = (run: Run, { agent, ask, at }: AskTimedOutSignal): Step =>
  followAskTimeout(run, getAgent(run, agent), ask, at);

/** The run after a person's answer. */
export function followAskAnswer(run: Run, agent: Agent, answer: AskAnswer, at: number): Step {
  const { phase, id, state } = agent;
  if (phase.kind !== 'asking' || phase.ask !== answer.ask) return { run, events: [] };
  const answered: Event = { kind: 'ask_answered', at, agent: id, state, ...answer, permission: null };
  if (phase.interrupted !== undefined)
    return { run: withAgent(run, goOnWithAnswer(run, agent, answer, phase.interrupted)), events: [answered] };
  return leaveQuestion(run, agent, phase, { to: phase.question.next, input: answer.text, ended: answered });
}

/** The run after the time for an answer is over. */
export function followAskTimeout(run: Run, agent: Agent, ask: string, at: number): Step {
  const { phase, id, state } = agent;
  if (phase.kind !== 'asking' || phase.ask !== ask || phase.question.timeoutNext === null) return { run, events: [] };
  const timedOut: Event = { kind: 'ask_timed_out', at, agent: id, state, ask, permission: null };
  return leaveQuestion(run, agent, phase, { to: phase.question.timeoutNext, input: null, ended: timedOut });
}

/** Makes the transition of a question that is over. */
function leaveQuestion(
  run: Run,
  agent: Agent,
  { ask, tag, implicit, origin }: Extract<Agent['phase'], { kind: 'asking' }>,
  { to, input, ended }: { readonly to: string; readonly input: string | null; readonly ended: Event },
): Step {
  const moved: Agent = {
    ...agent,
    ...PER_STATE_DEFAULTS,
    state: to,
    input,
    askId: ask,
    phase: { kind: 'ready', prompt: { kind: 'state' }, since: run.seq },
  };
  const transition: Event = {
    kind: 'transition',
    at: ended.at,
    ...leftStateOf(agent),
    tag: tag.tag,
    tags: [tag],
    ...(origin ?? { requested: [tag], choice: { by: 'answer', name: null, why: null } }),
    to,
    implicit,
    input,
  };
  return { run: withAgent(run, moved), events: [ended, transition] };
}
