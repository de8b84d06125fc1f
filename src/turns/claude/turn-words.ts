import type { TurnRef } from '../../core/due.ts';
import type { Said } from '../../core/said.ts';
import type { Conversation } from './conversation.ts';
import { escapePrompt, promptLine } from './invocation.ts';
import type { TurnReading } from './turn-reading.ts';

/** What is written into a turn. */
export type Words = Pick<Said, 'id' | 'text'>;

interface HearingTurn {
  readonly number: number;
  readonly reading: TurnReading;
  /** Null until its prompt is sent. */
  conversation: Conversation | null;
  /** What was said before. */
  readonly waiting: Words[];
}

/** The turns that people can be heard in while they run. */
export class TurnWords {
  private readonly turns = new Map<string, HearingTurn>();

  /** Lets a turn hear until `action` is over. */
  async during<T>(turn: TurnRef, reading: TurnReading, action: () => Promise<T>): Promise<T> {
    this.turns.set(turn.agent, { number: turn.number, reading, conversation: null, waiting: [] });
    try {
      return await action();
    } finally {
      this.turns.delete(turn.agent);
    }
  }

  /** Whether something can be written into the running turn of an agent. */
  canReach(agent: string): boolean {
    return this.turns.has(agent);
  }

  /** Writes what was said into this turn, as soon as its prompt is sent; not if it is over. */
  say(agent: string, number: number, words: Words): void {
    const turn = this.turns.get(agent);
    if (turn === undefined || turn.number !== number) return;
    if (turn.conversation === null) turn.waiting.push(words);
    else write(turn.conversation, turn.reading, words);
  }

  /** Notes that the prompt of an agent's turn was sent to this conversation. */
  connect(agent: string, conversation: Conversation): void {
    const turn = this.turns.get(agent);
    if (turn === undefined) return;
    turn.conversation = conversation;
    for (const words of turn.waiting) write(conversation, turn.reading, words);
  }
}

/** Claude Code echoes what is written as soon as the model gets it. */
function write(conversation: Conversation, reading: TurnReading, { id, text }: Words): void {
  const prompt = escapePrompt(text);
  if (prompt !== null && conversation.write(promptLine(id, prompt))) reading.expectEcho(id);
}
