import { type Agent, type RunningTurn, recordedTurn, type TurnPrompt } from './agent.ts';
import type { Event } from './event.ts';
import { shortenForMessage } from './problem.ts';
import type { Said } from './said.ts';
import { firstLine } from './text.ts';

/** What was said to an agent and waits for its next prompt. */
const waitingWords = ({ said }: Pick<Agent, 'said'>): readonly Said[] => said.filter(({ turn }) => turn === null);

/** Whether people can be heard in a turn of an agent: not in that of an evaluator, of a script, or for a summary. */
const takesWords = (
  { evaluation }: Pick<Agent, 'evaluation'>,
  { session, prompt }: { readonly session: RunningTurn['session']; readonly prompt: TurnPrompt },
): boolean => evaluation === null && session !== null && prompt.kind !== 'compact';

/** Hands what waits to the turn whose prompt it is put before. */
export function handOver(agent: Agent, turn: RunningTurn, at: number): { said: Agent['said']; events: Event[] } {
  const waiting = takesWords(agent, turn) ? waitingWords(agent) : [];
  if (waiting.length === 0) return { said: agent.said, events: [] };
  return {
    said: agent.said.map((each) => (each.turn === null ? { ...each, turn: turn.number, heard: true } : each)),
    events: waiting.map(({ id }) => deliveredEvent(agent, id, turn.number, 'prompt', at)),
  };
}

/** What was said to an agent and is still to be delivered after a turn: all that its conversation does not have. */
export function leftToSay({ said }: Agent, turn: number, sessionKept: boolean): Agent['said'] {
  if (said.every((each) => each.turn !== turn)) return said;
  return said.flatMap((each) => {
    if (each.turn !== turn) return [each];
    return each.heard && sessionKept ? [] : [{ ...each, turn: null, heard: false }];
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
export function unheardWarning({ id, state, said }: Agent, at: number): readonly Event[] {
  if (said.length === 0) return [];
  const texts = said.map(({ text }) => shortenForMessage(firstLine(text)));
  const message = `${state}: ${id} has ended without having heard what was said to it: ${texts.join(' / ')}`;
  return [{ kind: 'warning', at, agent: id, state, message }];
}

/** The number of the turn of an agent that words can be written into; null if there is none. */
export function findHearingTurn(agent: Agent): number | null {
  const turn = agent.phase.kind === 'running' && agent.interruption === null ? recordedTurn(agent.phase) : null;
  return turn !== null && takesWords(agent, turn) ? turn.number : null;
}

/** What a new turn gets with its prompt, or what may have been written into the one on record. */
export function wordsOf(agent: Agent, record: RunningTurn | null, prompt: TurnPrompt): readonly Said[] {
  if (agent.said.length === 0) return NO_WORDS;
  if (record !== null) return agent.said.filter(({ turn, heard }) => turn === record.number && !heard);
  return agent.evaluation === null && prompt.kind !== 'compact' ? waitingWords(agent) : NO_WORDS;
}

const NO_WORDS: readonly Said[] = [];
