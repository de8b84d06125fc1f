import { askIdOf, askModeOf, type Question } from '../../language/ask.ts';
import { shortenForMessage } from '../../language/problem.ts';
import type { FollowedTag, TransitionOrigins } from '../../language/tags/followed-tag.ts';
import { firstLine } from '../../language/text/text.ts';
import type { Agent } from '../run/agent.ts';
import type { Step } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import { workFoldersOf } from '../run/work-folders.ts';
import { failAgent } from './end-agent.ts';
import { takeGuard } from './state-failure.ts';

/** Lets an agent wait for the answer of a person, or fail if the run is not to ask anybody. */
export function askPerson(
  run: Run,
  agent: Agent,
  question: Question,
  tag: FollowedTag,
  implicit: boolean,
  origin: TransitionOrigins,
  at: number,
): Step {
  if (askModeOf(run) === 'fail') return failUnasked(run, agent, question, at);
  const ask = askIdOf(agent);
  const untilMs = question.timeoutMs === null ? null : at + question.timeoutMs;
  const { taskFolder } = workFoldersOf(run, agent);
  const asking = { kind: 'asking', ask, question, askedAt: at, untilMs, tag, implicit } as const;
  const phase = origin.choice.by === 'answer' ? asking : { ...asking, origin };
  return {
    run: withAgent(run, { ...agent, phase }),
    events: [{ kind: 'asked', at, agent: agent.id, state: agent.state, ask, question, untilMs, taskFolder }],
  };
}

/** Lets an agent fail that asks a person, because nobody is to be asked. */
export function failUnasked(run: Run, agent: Agent, { text }: Question, at: number): Step {
  const question = shortenForMessage(firstLine(text));
  const message = `${agent.state}: it asks a person, and nobody is to be asked (--on-ask fail): ${question}`;
  return takeGuard(run, agent, { outcome: 'error', message }, at) ?? failAgent(run, agent, message, at);
}
