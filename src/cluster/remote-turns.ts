import { setTimeout as delay } from 'node:timers/promises';
import { errorMessageOf } from '../errors.ts';
import type { Database } from '../storage/postgres/database.ts';
import { onceEach } from '../storage/postgres/parse-row.ts';
import {
  insertTurn,
  keyOf,
  type RemoteTurn,
  type SentTurn,
  selectHeard,
  selectOutcomes,
  selectTurnNames,
  type TurnOutcome,
} from '../storage/postgres/remote-turn-rows.ts';
import type { LostNodes } from './lost-nodes.ts';
import type { QueueClient, QueuedTurn } from './queues.ts';

/** A look finds all ends at once, and there is none while nothing is waited for. */
const POLL_INTERVAL_MS = 50;

interface Waiter {
  readonly turn: RemoteTurn;
  readonly end: (outcome: TurnOutcome | null) => void;
}

/** The way of turns to other workers, shared by all runs that this worker drives. */
export class RemoteTurns {
  readonly database: Database;
  readonly lostNodes: LostNodes;
  /** The name of this worker. */
  readonly name: string;
  private readonly queues: QueueClient;
  private readonly leaving: AbortSignal;
  private readonly waiting = new Set<Waiter>();
  /** The callbacks for delivered messages, by turn and by message id. */
  private readonly listening = new Map<string, Map<string, () => void>>();
  private readonly warnOnce: (message: string) => void;
  private isPolling = false;

  constructor(
    database: Database,
    queues: QueueClient,
    worker: { readonly name: string; readonly leaving: AbortSignal; readonly warn: (message: string) => void },
    lostNodes: LostNodes,
  ) {
    this.database = database;
    this.queues = queues;
    this.name = worker.name;
    this.leaving = worker.leaving;
    this.warnOnce = onceEach(worker.warn);
    this.lostNodes = lostNodes;
  }

  /** The turns of a run that are on their way since an earlier process drove it. */
  findSent = (run: string): Promise<ReadonlySet<string>> =>
    this.database.retryUntilReachable(() => selectTurnNames(this.database, run));

  /** Puts a turn on its way, unless it is, and tells what is known of it; `boot` is that of the machine where it may have begun. */
  send(turn: QueuedTurn, boot: string | null): Promise<SentTurn> {
    return this.database.retryUntilReachable(() =>
      this.database.transaction(async (client) => {
        const sent = await insertTurn(client, turn, boot);
        await this.queues.addTurn(client, turn);
        return sent;
      }),
    );
  }

  /**
   * Waits for the end of a turn. Null if this worker leaves before, or `over` is aborted: the turn continues, and the next driver of the
   * run finds it.
   */
  waitForEnd(turn: RemoteTurn, over: AbortSignal): Promise<TurnOutcome | null> {
    const given = AbortSignal.any([this.leaving, over]);
    if (given.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const end = (outcome: TurnOutcome | null): void => {
        this.waiting.delete(waiter);
        this.listening.delete(keyOf(turn));
        given.removeEventListener('abort', giveUp);
        resolve(outcome);
      };
      const giveUp = (): void => end(null);
      const waiter = { turn, end };
      given.addEventListener('abort', giveUp);
      this.waiting.add(waiter);
      if (!this.isPolling) this.pollEnds();
    });
  }

  /** Calls back once a turn that is waited for has got what was said. */
  listen(turn: RemoteTurn, said: string, onHeard: () => void): void {
    const key = keyOf(turn);
    const listeners = this.listening.get(key) ?? new Map<string, () => void>();
    this.listening.set(key, listeners.set(said, onHeard));
  }

  private readonly reportOnce = (error: unknown): readonly [] => {
    this.warnOnce(`the ends of turns on other workers cannot be read: ${errorMessageOf(error)}`);
    return [];
  };

  private async pollEnds(): Promise<void> {
    this.isPolling = true;
    while (this.waiting.size > 0) {
      const runs = [...new Set(Array.from(this.waiting, ({ turn }) => turn.run))];
      if (this.listening.size > 0) await this.pollDeliveries(runs);
      const ended = await this.database
        .retryUntilReachable(() => selectOutcomes(this.database, runs, this.warnOnce))
        .catch(this.reportOnce);
      const outcomes = new Map(ended.map(({ outcome, ...turn }) => [keyOf(turn), outcome]));
      for (const { turn, end } of this.waiting) {
        const outcome = outcomes.get(keyOf(turn));
        if (outcome !== undefined) end(outcome);
      }
      await delay(POLL_INTERVAL_MS);
    }
    this.isPolling = false;
  }

  private async pollDeliveries(runs: readonly string[]): Promise<void> {
    for (const { id, ...turn } of await selectHeard(this.database, runs).catch(() => [])) {
      const listeners = this.listening.get(keyOf(turn));
      const onHeard = listeners?.get(id);
      listeners?.delete(id);
      if (listeners?.size === 0) this.listening.delete(keyOf(turn));
      onHeard?.();
    }
  }
}
