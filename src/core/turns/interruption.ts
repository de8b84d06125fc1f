import { type AskAnswer, askIdOf, askModeOf, type Question } from '../../language/ask.ts';
import type { Agent, RunningTurn, TurnPrompt } from '../run/agent.ts';
import type { Event, Step } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import type { Said, TurnInterruption } from '../run/said.ts';
import { workFoldersOf } from '../run/work-folders.ts';

/** A turn that was interrupted. */
interface InterruptedTurn {
  readonly run: Run;
  readonly agent: Agent;
  readonly turn: RunningTurn;
  readonly events: readonly Event[];
}

/**
 * Lets an agent continue in its state after its turn was interrupted: with what the person has said, or it asks. If the
 * conversation has nothing of the turn, its prompt is sent again, too.
 */
export function goOnOtherwise(
  { run, agent, turn, events }: InterruptedTurn,
  { id, text, by, saidAt }: TurnInterruption,
  sessionKept: boolean,
  at: number,
): Step {
  const prompt: TurnPrompt = sessionKept ? { kind: 'said' } : turn.prompt;
  if (text !== null) {
    const next = sayNext(run, agent, { id, text, by, saidAt }, prompt);
    return { run: withAgent(run, next), events };
  }
  const ask = askIdOf(agent);
  const question = createQuestion(agent);
  const tag = { tag: 'ask', target: agent.state, attributes: {} } as const;
  const written = { target: agent.state, attributes: {} };
  const asking = { kind: 'asking', ask, question, askedAt: at, untilMs: null } as const;
  const phase = { ...asking, tag: { ...tag, written }, implicit: false, interrupted: prompt };
  const { taskFolder } = workFoldersOf(run, agent);
  const asked = { kind: 'asked', at, agent: agent.id, state: agent.state, ask, question, untilMs: null } as const;
  return { run: withAgent(run, { ...agent, phase }), events: [...events, { ...asked, taskFolder }] };
}

/** The agent after the answer to the question how it continues. */
export const goOnWithAnswer = (
  run: Run,
  agent: Agent,
  { ask, text, by, answeredAt }: AskAnswer,
  interrupted: TurnPrompt,
): Agent => sayNext(run, agent, { id: ask, text, by, saidAt: answeredAt }, interrupted);

/** Lets an agent continue with what was said; if that is nothing, just where it was. */
function sayNext(run: Run, agent: Agent, words: Omit<Said, 'turn' | 'delivered'>, prompt: TurnPrompt): Agent {
  const isEmpty = words.text.trim() === '';
  const messages = isEmpty ? agent.messages : [...agent.messages, { ...words, turn: null, delivered: false }];
  const next: TurnPrompt = prompt.kind === 'said' && messages.length === 0 ? { kind: 'continue' } : prompt;
  return { ...agent, messages, phase: { kind: 'ready', prompt: next, since: run.seq } };
}

const createQuestion = ({ id, state }: Agent): Question => ({
  text: `${id} was interrupted in ${state}. How shall it continue?`,
  next: state,
  timeoutMs: null,
  timeoutNext: null,
  displayFiles: [],
  uploads: null,
  choices: null,
  permission: null,
});

/** Why the running turn of an agent cannot be interrupted; null if it can. */
export function whyNotInterruptible(run: Run, agent: Agent, text: string | null): string | null {
  const { id, phase, evaluation, interruption, state } = agent;
  if (phase.kind !== 'running') return `no turn of ${id} is running`;
  if (evaluation !== null) return `${evaluation.file} judges what ${id} answered`;
  if (phase.turn.session === null) return `${state} is a script, which cannot be interrupted and continue`;
  if (phase.turn.prompt.kind === 'compact') return `the conversation of ${id} is being summarized`;
  if (interruption !== null) return `${id} is being interrupted already`;
  return text === null && askModeOf(run) === 'fail' ? 'nobody is to be asked how it continues (--on-ask fail)' : null;
}
