import { createEventDocument } from '../events/event-document.ts';
import { followSteps, type RunStep, readSteps } from '../runtime/follow-run.ts';

/** A step of a run as a message of an event stream: its number is the id that a browser sends when it comes back. */
export interface FeedMessage {
  readonly seq: number;
  readonly text: string;
}

/** Everybody who follows the same run shares one reader of its journal. */
export class RunFeeds {
  private readonly feeds = new Map<string, RunFeed>();

  /** Calls back with every step of a run after a step, in order, none lost and none doubled, until the signal. */
  async follow(
    run: { readonly id: string; readonly cwd: string },
    after: number,
    signal: AbortSignal,
    send: (message: FeedMessage) => void,
  ): Promise<void> {
    const key = `${run.cwd}\0${run.id}`;
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
  private readonly run: { readonly id: string; readonly cwd: string };
  private readonly listeners = new Set<(message: FeedMessage) => void>();
  private readonly stop = new AbortController();
  private readonly onEnd: () => void;
  private readonly ended: Promise<void>;
  /** The latest steps; all after `since` were read by this feed. */
  private readonly kept: FeedMessage[] = [];
  private since: number;

  constructor(run: { readonly id: string; readonly cwd: string }, after: number, onEnd: () => void) {
    this.run = run;
    this.since = after;
    this.onEnd = onEnd;
    this.ended = this.read(after).finally(onEnd);
    // Each listener gets the error.
    this.ended.catch(() => {});
  }

  async serve(after: number, signal: AbortSignal, send: (message: FeedMessage) => void): Promise<void> {
    let last = after;
    const sendNew = (message: FeedMessage): void => {
      if (message.seq <= last) return;
      last = message.seq;
      send(message);
    };
    const waiting: FeedMessage[] = [];
    let receive = (message: FeedMessage): void => void waiting.push(message);
    const listener = (message: FeedMessage): void => receive(message);
    this.listeners.add(listener);
    try {
      // What came before this feed is read from the journal; what comes meanwhile waits.
      if (after < this.since) {
        for await (const step of readSteps(this.run.id, this.run.cwd, after)) {
          if (signal.aborted) return;
          sendNew(toMessage(step));
        }
      }
      for (const message of [...this.kept, ...waiting]) sendNew(message);
      receive = sendNew;
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
    for await (const step of followSteps(this.run.id, this.run.cwd, after, this.stop.signal)) {
      const message = toMessage(step);
      this.kept.push(message);
      if (this.kept.length > MAX_KEPT) this.since = this.kept.shift()?.seq ?? this.since;
      for (const listener of this.listeners) listener(message);
    }
  }
}

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function toMessage({ seq, events }: RunStep): FeedMessage {
  return { seq, text: JSON.stringify({ seq, events: events.map(createEventDocument) }) };
}
