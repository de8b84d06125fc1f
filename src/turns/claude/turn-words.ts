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
  isInterrupted: boolean;
  /** Ends it by force if it does not end after it was interrupted. */
  alarm: NodeJS.Timeout | undefined;
}

/** How long a turn that was interrupted may go on. */
const INTERRUPT_GRACE_MS = 10_000;

/** The turns that people can be heard in while they run. */
export class TurnWords {
  private readonly end: (agent: string) => void;
  private readonly turns = new Map<string, HearingTurn>();

  /** `end` ends the turn of an agent by force. */
  constructor(end: (agent: string) => void) {
    this.end = end;
  }

  /** Lets a turn hear until `action` is over. */
  async during<T>(turn: TurnRef, reading: TurnReading, action: () => Promise<T>): Promise<T> {
    const { number } = turn;
    const none = { conversation: null, waiting: [], isInterrupted: false, alarm: undefined };
    const hearing: HearingTurn = { number, reading, ...none };
    this.turns.set(turn.agent, hearing);
    try {
      return await action();
    } finally {
      clearTimeout(hearing.alarm);
      this.turns.delete(turn.agent);
    }
  }

  /** Whether something can be written into the running turn of an agent. */
  canReach(agent: string): boolean {
    return this.turns.get(agent)?.isInterrupted === false;
  }

  /** Writes what was said into this turn, as soon as its prompt is sent; not if it is over. */
  say(agent: string, number: number, words: Words): void {
    const turn = this.turns.get(agent);
    // What comes after an interruption is for the next prompt.
    if (turn === undefined || turn.number !== number || turn.isInterrupted) return;
    if (turn.conversation === null) turn.waiting.push(words);
    else write(turn.conversation, turn.reading, words);
  }

  /**
   * Tells Claude Code to end the turn of an agent. False if that is not possible, also if it has not taken up all that was
   * said: it would go on with that.
   */
  interrupt(agent: string): boolean {
    const turn = this.turns.get(agent);
    if (turn === undefined || turn.conversation === null || turn.reading.unheardIds.length > 0) return false;
    if (!turn.conversation.interrupt()) return false;
    turn.isInterrupted = true;
    turn.alarm = setTimeout(() => this.end(agent), INTERRUPT_GRACE_MS).unref();
    return true;
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
