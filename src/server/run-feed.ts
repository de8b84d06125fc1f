import { followSteps, type RunStep, readSteps } from '../app/run-files.ts';
import { type TurnDelta, TurnDeltas } from '../app/turns/turn-deltas.ts';
import { createEventDocument, createLogEntryDocument } from '../documents/event-document.ts';
import type { StepDocument, TurnDeltaDocument, TurnDeltasDocument } from '../documents/types.ts';
import { keyOfRun, type ServedRun } from './journal-pages.ts';

/** A message of the event stream of a run: a step, whose number a browser sends when it comes back, or what running turns say. */
export type FeedMessage = StepMessage | { readonly kind: 'delta'; readonly text: string };

interface StepMessage {
  readonly kind: 'step';
  readonly seq: number;
  readonly text: string;
}

/** Everybody who follows the same run shares one reader of its journal. */
export class RunFeeds {
  private readonly feeds = new Map<string, RunFeed>();

  /**
   * Calls back with every step of a run after a step, in order, none lost and none doubled, and with what running turns say and
   * do meanwhile, until the signal.
   */
  async follow(
    run: ServedRun,
    after: number,
    signal: AbortSignal,
    send: (message: FeedMessage) => void,
  ): Promise<void> {
    const key = keyOfRun(run);
    const feed: RunFeed =
      this.feeds.get(key) ??
      new RunFeed(run, after, () => {
        if (this.feeds.get(key) === feed) this.feeds.delete(key);
      });
    this.feeds.set(key, feed);
    await feed.serve(after, signal, send);
  }
}

/** How many of the latest steps a feed keeps for those who come later. */
const MAX_KEPT = 1_000;

class RunFeed {
  private readonly run: ServedRun;
  private readonly listeners = new Set<(message: FeedMessage) => void>();
  private readonly stop = new AbortController();
  private readonly onEnd: () => void;
  private readonly ended: Promise<void>;
  /** The latest steps; all after `since` were read by this feed. */
  private readonly kept: StepMessage[] = [];
  private readonly deltas: TurnDeltas;
  private since: number;

  constructor(run: ServedRun, after: number, onEnd: () => void) {
    this.run = run;
    this.since = after;
    this.onEnd = onEnd;
    this.deltas = new TurnDeltas(run, (deltas) => this.tell(toDeltaMessage(deltas)));
    this.ended = this.read(after).finally(() => {
      this.deltas.close();
      onEnd();
    });
    // Each listener gets the error.
    this.ended.catch(() => {});
  }

  async serve(after: number, signal: AbortSignal, send: (message: FeedMessage) => void): Promise<void> {
    let last = after;
    const sendNew = (message: FeedMessage): void => {
      if (message.kind === 'step') {
        if (message.seq <= last) return;
        last = message.seq;
      }
      send(message);
    };
    const waiting: StepMessage[] = [];
    let receive = (message: FeedMessage): void => {
      if (message.kind === 'step') waiting.push(message);
    };
    const listener = (message: FeedMessage): void => receive(message);
    this.listeners.add(listener);
    try {
      // Earlier events are read from the journal; those that arrive meanwhile wait.
      if (after < this.since) {
        for await (const step of readSteps(this.run.id, this.run.storage, after)) {
          if (signal.aborted) return;
          sendNew(toMessage(step));
        }
      }
      for (const message of [...this.kept, ...waiting]) sendNew(message);
      receive = sendNew;
      const { latest } = this.deltas;
      if (latest.length > 0) send(toDeltaMessage(latest));
      await Promise.race([this.ended, whenAborted(signal)]);
    } finally {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) {
        this.stop.abort();
        // At once, so that nobody joins a feed that is ending.
        this.onEnd();
      }
    }
  }

  private async read(after: number): Promise<void> {
    await this.deltas.open();
    for await (const step of followSteps(this.run.id, this.run.storage, after, this.stop.signal)) {
      const message = toMessage(step);
      this.kept.push(message);
      if (this.kept.length > MAX_KEPT) this.since = this.kept.shift()?.seq ?? this.since;
      this.tell(message);
      await this.deltas.observe(step);
    }
  }

  private tell(message: FeedMessage): void {
    for (const listener of this.listeners) listener(message);
  }
}

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function toMessage({ seq, events }: RunStep): StepMessage {
  const document: StepDocument = { seq, events: events.map((event) => createEventDocument(event)) };
  return { kind: 'step', seq, text: JSON.stringify(document) };
}

/** The whole text of an entry is in its turn. */
const MAX_DELTA_CHARS = 4_000;

function toDeltaMessage(deltas: readonly TurnDelta[]): FeedMessage {
  const document: TurnDeltasDocument = { turns: deltas.map(toDeltaDocument) };
  return { kind: 'delta', text: JSON.stringify(document) };
}

/** The activity of a turn, as the page and programs receive it. */
export const toDeltaDocument = ({ agent, number, state, first, entries }: TurnDelta): TurnDeltaDocument => ({
  agent,
  turn: number,
  state,
  first,
  entries: entries.map((entry) => createLogEntryDocument(entry, MAX_DELTA_CHARS)),
});
