import { shortenForMessage } from '../../language/problem.ts';
import { firstLine } from '../../language/text/text.ts';
import { type Agent, type RunningTurn, recordedTurn, type TurnPrompt } from './agent.ts';
import type { Event } from './event.ts';
import type { Said } from './said.ts';

/** The messages that wait for an agent's next prompt. */
const waitingWords = ({ messages }: Pick<Agent, 'messages'>): readonly Said[] =>
  messages.filter(({ turn }) => turn === null);

/** True if people can be heard in a turn of an agent: not in that of an evaluator, of a script, or for a summary. */
const takesWords = (
  { evaluation }: Pick<Agent, 'evaluation'>,
  { session, prompt }: { readonly session: RunningTurn['session']; readonly prompt: TurnPrompt },
): boolean => evaluation === null && session !== null && prompt.kind !== 'compact';

/** Hands what waits to the turn whose prompt it is put before. */
export function handOver(
  agent: Agent,
  turn: RunningTurn,
  at: number,
): { messages: Agent['messages']; events: Event[] } {
  const waiting = takesWords(agent, turn) ? waitingWords(agent) : [];
  if (waiting.length === 0) return { messages: agent.messages, events: [] };
  return {
    messages: agent.messages.map((each) =>
      each.turn === null ? { ...each, turn: turn.number, delivered: true } : each,
    ),
    events: waiting.map(({ id }) => deliveredEvent(agent, id, turn.number, 'prompt', at)),
  };
}

/** The messages that are still undelivered after a turn: all that the conversation does not have. */
export function leftToSay({ messages }: Agent, turn: number, sessionKept: boolean): Agent['messages'] {
  if (messages.every((each) => each.turn !== turn)) return messages;
  return messages.flatMap((each) => {
    if (each.turn !== turn) return [each];
    return each.delivered && sessionKept ? [] : [{ ...each, turn: null, delivered: false }];
  });
}

/** The event that a turn has got what was said. */
export const deliveredEvent = (
  { id: agent, state }: Agent,
  said: string,
  turn: number,
  via: 'turn' | 'prompt',
  at: number,
): Event => ({ kind: 'said_delivered', at, agent, state, said, turn, via });

/** Warns of what was said to an agent that has ended before it could hear it. */
export function unheardWarning({ id, state, messages }: Agent, at: number): readonly Event[] {
  if (messages.length === 0) return [];
  const texts = messages.map(({ text }) => shortenForMessage(firstLine(text)));
  const message = `${state}: ${id} has ended without having heard what was said to it: ${texts.join(' / ')}`;
  return [{ kind: 'warning', at, agent: id, state, message }];
}

/** The number of the turn of an agent that words can be written into; null if there is none. */
export function findHearingTurn(agent: Agent): number | null {
  const turn = agent.phase.kind === 'running' && agent.interruption === null ? recordedTurn(agent.phase) : null;
  return turn !== null && takesWords(agent, turn) ? turn.number : null;
}

/** The messages for a new turn's prompt, or those that may have been written into the one on record. */
export function messagesFor(agent: Agent, record: RunningTurn | null, prompt: TurnPrompt): readonly Said[] {
  if (agent.messages.length === 0) return NO_WORDS;
  if (record !== null) return agent.messages.filter(({ turn, delivered }) => turn === record.number && !delivered);
  return agent.evaluation === null && prompt.kind !== 'compact' ? waitingWords(agent) : NO_WORDS;
}

const NO_WORDS: readonly Said[] = [];
