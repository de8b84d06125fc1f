import type { TurnRef } from '../core/turns/due.ts';
import type { TurnMessage } from './conversation.ts';
import type { AnyConnection, Pool, Pooled } from './pool.ts';

interface ReachableTurn<C> {
  readonly number: number;
  /** Null until its prompt is sent. */
  pooled: Pooled<C> | null;
  /** The messages that came before. */
  readonly waiting: TurnMessage[];
  /** Ends it by force if it does not end after it was interrupted. */
  alarm: NodeJS.Timeout | undefined;
}

/** How long a turn that was interrupted may continue. */
const INTERRUPT_GRACE_MS = 10_000;

/** The running turns that get messages and interruptions of people. */
export class TurnMessages<C extends AnyConnection> {
  private readonly pool: Pool<C>;
  private readonly end: (agent: string) => void;
  private readonly turns = new Map<string, ReachableTurn<C>>();

  /** `end` ends the turn of an agent by force. */
  constructor(pool: Pool<C>, end: (agent: string) => void) {
    this.pool = pool;
    this.end = end;
  }

  /** Makes a turn reachable until `action` is over. */
  async during<T>({ agent, number }: TurnRef, action: () => Promise<T>): Promise<T> {
    const turn: ReachableTurn<C> = { number, pooled: null, waiting: [], alarm: undefined };
    this.turns.set(agent, turn);
    try {
      return await action();
    } finally {
      clearTimeout(turn.alarm);
      this.turns.delete(agent);
    }
  }

  /** True if the running turn of an agent takes messages: not after an interruption, and not once its process has exited. */
  canReach(agent: string): boolean {
    const turn = this.turns.get(agent);
    if (turn === undefined || turn.pooled === null) return turn !== undefined;
    const { conversation } = turn.pooled;
    return conversation.kind === 'busy' && conversation.interruption === 'none';
  }

  /** Writes a message into this turn, as soon as its prompt is sent; not if it is over. */
  say(agent: string, number: number, message: TurnMessage): void {
    const turn = this.turns.get(agent);
    if (turn === undefined || turn.number !== number) return;
    if (turn.pooled === null) turn.waiting.push(message);
    else this.pool.steer(turn.pooled, message);
  }

  /** Tells the backend to end the turn of an agent. False if that is not possible. */
  interrupt(agent: string): boolean {
    const turn = this.turns.get(agent);
    if (turn === undefined || turn.pooled === null || !this.pool.interrupt(turn.pooled)) return false;
    turn.alarm = setTimeout(() => this.end(agent), INTERRUPT_GRACE_MS).unref();
    return true;
  }

  /** Records that the prompt of an agent's turn was sent to this conversation. */
  connect(agent: string, pooled: Pooled<C>): void {
    const turn = this.turns.get(agent);
    if (turn === undefined) return;
    turn.pooled = pooled;
    for (const message of turn.waiting) this.pool.steer(pooled, message);
  }
}
