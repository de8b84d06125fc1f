import { randomUUID } from 'node:crypto';
import type { PromptTurn, TurnRef } from '../core/turns/due.ts';
import type { NotStarted } from '../process/command.ts';
import { toNotStarted } from '../process/start.ts';
import type { TurnMessage } from './conversation.ts';
import { type EarlyStartContext, EarlyStarts } from './early-start.ts';
import { type AnyConnection, Pool, type PoolContext, type Pooled } from './pool.ts';
import type { Connection, ConversationProtocol, PlannedTurn } from './protocol.ts';
import { locatedRef, locateTurn, readTurnLocator, writeTurnLocator } from './records.ts';

/** Everything that turns in conversations need of their run. */
interface ConversationContext extends PoolContext, EarlyStartContext {
  readonly endings: { end(agent: string): void };
  /** True if another node drives the run, and decides which conversations it has. */
  readonly isGuest?: boolean;
  folderOf(turn: TurnRef): string;
}

/** A turn that was taken. `settle` keeps its conversation for the next turn, or closes it. */
type TakenTurn<Over> =
  | NotStarted
  | { readonly kind: 'missed'; readonly over: Over }
  | { readonly kind: 'over'; readonly over: Over; readonly settle: (canContinue: boolean) => Promise<void> };

/** Takes turns in processes that stay open from one turn of a conversation to the next. */
export class ConversationTurns<Asked extends PlannedTurn, Over, Left extends { readonly turn: TurnRef }> {
  readonly pool: Pool<Connection<Asked, Over>>;
  readonly messages: TurnMessages<Connection<Asked, Over>>;
  private readonly context: ConversationContext;
  private readonly protocol: ConversationProtocol<Asked, Over, Left>;
  private readonly early: EarlyStarts<Asked, Over>;

  /** `onEnded` is called with the last turn of a process that has exited by itself between two turns. */
  constructor(
    context: ConversationContext,
    protocol: ConversationProtocol<Asked, Over, Left>,
    onEnded: (lastTurn: TurnRef) => void,
  ) {
    this.context = context;
    this.protocol = protocol;
    this.pool = new Pool(context, { onUnused: ({ opener }) => this.early.countMiss(opener.state), onEnded });
    this.early = new EarlyStarts(context, protocol, this.pool);
    this.messages = new TurnMessages(this.pool, (agent) => context.endings.end(agent));
  }

  /** Takes a turn: in the process that is open for its session, if that fits, else in a new one. */
  take(asked: Asked): Promise<TakenTurn<Over>> {
    return this.messages.during(asked.turn, async () => {
      const { session } = asked;
      const open = session.kind === 'new' ? await this.early.take(asked) : this.takeIdle(asked);
      if (open !== null) return this.ask(asked, open);
      if (session.kind === 'fork') await this.pool.waitForRest(session.from);
      else await this.pool.free(session.id);
      const added = this.add(asked);
      return 'obstacle' in added ? added : this.ask(asked, added);
    });
  }

  /** Finds a turn that an earlier process of Raymond has begun in a conversation; null if it has a process of its own. */
  recover(left: Left): Promise<Over> | null {
    const { turn } = left;
    const locator = readTurnLocator(this.context.folderOf(turn));
    if (locator === null) return null;
    return this.protocol.recover(left, locator, locatedRef(this.context, turn.agent, locator));
  }

  /** Ends all processes without a turn; those that are busy finish theirs. */
  async close(): Promise<void> {
    await this.early.stop();
    await this.pool.close();
  }

  private add({ turn, session, command }: Asked): Pooled<Connection<Asked, Over>> | NotStarted {
    const { agent, number, state } = turn;
    const ref = { agent, number, state };
    const isNamed = session.kind === 'resume' || !this.protocol.choosesSession;
    const from = session.kind === 'fork' ? session.from : null;
    try {
      const purpose = { kind: 'turn', turn: ref, from } as const;
      return this.pool.add({ ...ref, isEarly: false }, command.key, isNamed ? session.id : null, purpose);
    } catch (error) {
      return toNotStarted(command, error);
    }
  }

  private takeIdle(asked: Asked): Pooled<Connection<Asked, Over>> | null {
    const { session, turn, command } = asked;
    const found = session.kind === 'resume' ? this.pool.findIdle(session.id) : null;
    if (found === null || found.key !== command.key || found.connection?.fits(asked) !== true) return null;
    return this.pool.prompt(found, turn) ? found : null;
  }

  /** Sends the prompt, once the turn's folder says where the turn is found. */
  private async ask(asked: Asked, pooled: Pooled<Connection<Asked, Over>>): Promise<TakenTurn<Over>> {
    const promptId = randomUUID();
    if (pooled.connection !== null) {
      const notLocated = this.locate(asked, pooled, promptId);
      if (notLocated === null) return this.send(asked, pooled, pooled.connection, promptId);
      await this.pool.settle(pooled, false);
      return notLocated;
    }
    const connected = await this.pool.connect(
      pooled,
      async (process, events) =>
        this.locate(asked, pooled, promptId) ?? (await this.protocol.open(asked, process, events)),
    );
    return 'obstacle' in connected ? connected : this.send(asked, pooled, connected, promptId);
  }

  private locate(
    { turn, command }: Asked,
    { opener, connection }: Pooled<Connection<Asked, Over>>,
    promptId: string,
  ): NotStarted | null {
    const position = connection?.position ?? { stdout: 0, stderr: 0 };
    try {
      writeTurnLocator(this.context.folderOf(turn), locateTurn(opener, position, promptId));
      return null;
    } catch (error) {
      return toNotStarted(command, error);
    }
  }

  private async send(
    asked: Asked,
    pooled: Pooled<Connection<Asked, Over>>,
    connection: Connection<Asked, Over>,
    promptId: string,
  ): Promise<TakenTurn<Over>> {
    const { turn } = asked;
    try {
      const { kind, over } = await connection.send(asked, promptId, {
        onSent: () => this.messages.connect(turn.agent, pooled),
        onBegun: (isEarlySafe) => this.startEarly(turn, isEarlySafe),
      });
      if (kind === 'over') return { kind, over, settle: (canContinue) => this.pool.settle(pooled, canContinue) };
      await this.pool.settle(pooled, false);
      return { kind, over };
    } catch (error) {
      await this.pool.settle(pooled, false);
      throw error;
    }
  }

  /** Starts the process of the turn that comes next. On a guest node, nobody knows which that is. */
  private startEarly(turn: PromptTurn, isEarlySafe: boolean): void {
    if (!isEarlySafe) this.early.stop();
    else if (this.context.isGuest !== true) this.early.consider(turn);
  }
}

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
class TurnMessages<C extends AnyConnection> {
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
