import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../../process/clock.ts';
import type { OutputChunk, TurnName, TurnStream } from '../storage.ts';
import type { Database } from './database.ts';
import { type OutputPiece, recordWatcher, selectPieces } from './live-rows.ts';

/** How often nodes are told that somebody still watches. */
const TELL_EVERY_MS = 3_000;
const POLL_INTERVAL_MS = 150;

/** A stream of a running turn that somebody follows. */
export class Subscription {
  readonly agent: string;
  readonly number: number;
  readonly file: TurnStream;
  /** The bytes that are here or were left out; -1 if nothing is known of the stream. */
  upTo = -1;
  private readonly chunks: OutputChunk[] = [];
  private isWoken = false;
  private waiting: (() => void) | undefined;

  constructor({ agent, number }: TurnName, file: TurnStream) {
    this.agent = agent;
    this.number = number;
    this.file = file;
  }

  /** True once something of the stream is known. */
  get hasArrived(): boolean {
    return this.upTo >= 0;
  }

  /** The chunks that have come since the last call. */
  take(): readonly OutputChunk[] {
    return this.chunks.splice(0);
  }

  /** Resolves when something has come since the last call, or at `wake`. */
  async next(): Promise<void> {
    if (!this.isWoken)
      await new Promise<void>((resolve) => {
        this.waiting = resolve;
      });
    this.isWoken = false;
  }

  wake(): void {
    this.isWoken = true;
    this.waiting?.();
  }

  /** Takes a piece. If something is missing before it, it begins with its first whole line. */
  add({ position, bytes }: Pick<OutputPiece, 'position' | 'bytes'>): void {
    const end = position + bytes.length;
    if (end < this.upTo || (end === this.upTo && bytes.length > 0)) return;
    const here = Math.max(0, this.upTo);
    const offset = position > here ? position + bytes.indexOf(LINE_FEED) + 1 : here;
    if (offset < end) this.chunks.push({ offset, bytes: bytes.subarray(offset - position) });
    this.upTo = end;
    this.wake();
  }
}

const LINE_FEED = 0x0a;

/** Follows streams of turns that run on nodes: one query at a time for all that are followed in a run. */
export class LiveStreams {
  private readonly database: Database;
  /** By run. */
  private readonly subscriptions = new Map<string, Set<Subscription>>();
  private readonly toldAt = new Map<string, number>();

  constructor(database: Database) {
    this.database = database;
  }

  subscribe(run: string, turn: TurnName, stream: TurnStream): Subscription {
    const subscription = new Subscription(turn, stream);
    const known = this.subscriptions.get(run);
    if (known === undefined) {
      const added = new Set([subscription]);
      this.subscriptions.set(run, added);
      void this.poll(run, added);
    } else {
      known.add(subscription);
      // The streams of a turn are to come together.
      void this.fetch(run, [subscription]);
    }
    return subscription;
  }

  unsubscribe(run: string, subscription: Subscription): void {
    const known = this.subscriptions.get(run);
    known?.delete(subscription);
    if (known?.size === 0) this.subscriptions.delete(run);
  }

  /** Lets the nodes of a run know that somebody watches it. */
  async tell(run: string): Promise<void> {
    const now = monotonicMs();
    if (now - (this.toldAt.get(run) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
    this.toldAt.set(run, now);
    await recordWatcher(this.database, run);
  }

  /** Fetches what is new. It never throws: what cannot be seen now is there when the turn has ended. */
  async fetch(run: string, subscriptions: readonly Subscription[]): Promise<void> {
    if (subscriptions.length === 0) return;
    try {
      await this.tell(run);
      for (const piece of await selectPieces(this.database, run, subscriptions))
        for (const each of subscriptions)
          if (each.agent === piece.agent && each.number === piece.number && each.file === piece.file) each.add(piece);
    } catch {}
  }

  private async poll(run: string, subscriptions: ReadonlySet<Subscription>): Promise<void> {
    while (subscriptions.size > 0) {
      await this.fetch(run, [...subscriptions]);
      await delay(POLL_INTERVAL_MS);
    }
  }
}
