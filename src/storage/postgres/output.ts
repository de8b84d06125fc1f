import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../../process/clock.ts';
import type { OutputChunk, TurnName, TurnOutput, TurnStream } from '../storage.ts';
import type { Database } from './database.ts';
import { LiveOutput } from './live-output.ts';
import { selectSizes } from './live-rows.ts';
import { LiveStreams } from './live-streams.ts';
import { chunksOf, selectTurnFiles, sizeOf } from './turn-rows.ts';

/** How long to wait for the node of a running turn to send what it has, once in a while for each run. */
const PEEK_MS = 1_500;
const PEEK_AGAIN_AFTER_MS = 10_000;

/** The streams of turns of a database. */
export interface DatabaseOutput extends TurnOutput {
  /** Lets the nodes of a run know that somebody watches it, before a turn is followed. It never throws. */
  watch(run: string): Promise<void>;
}

/** Creates the reader of turns that run on nodes, or have run there; `publisher` has those that run here. */
export function createDatabaseOutput(
  database: Database,
  publisher = new LiveOutput(database, '', () => {}),
): DatabaseOutput {
  const live = new LiveStreams(database);
  /** Until when the last peek at a run has waited. */
  const peeks = new Map<string, number>();

  /** Reads what a turn that may be running has said so far, if its node tells that soon. */
  async function* peek(run: string, turn: TurnName, stream: TurnStream): AsyncGenerator<OutputChunk> {
    const [now, lastMs = Number.NEGATIVE_INFINITY] = [monotonicMs(), peeks.get(run)];
    const untilMs = now < lastMs + PEEK_AGAIN_AFTER_MS ? lastMs : now + PEEK_MS;
    peeks.set(run, untilMs);
    const subscription = live.subscribe(run, turn, stream);
    const over = delay(Math.max(0, untilMs - now), undefined, { ref: false });
    try {
      while (!subscription.hasArrived && monotonicMs() < untilMs) await Promise.race([subscription.next(), over]);
      await live.fetch(run, [subscription]);
      yield* subscription.take();
    } finally {
      live.unsubscribe(run, subscription);
    }
  }

  async function* follow(
    run: string,
    turn: TurnName,
    stream: TurnStream,
    until: Promise<unknown>,
  ): AsyncGenerator<OutputChunk> {
    const subscription = live.subscribe(run, turn, stream);
    let isOver = false;
    const end = (): void => {
      isOver = true;
      subscription.wake();
    };
    until.then(end, end);
    try {
      while (!isOver) {
        yield* subscription.take();
        if (stream === 'stdin' && subscription.hasArrived) return;
        if (!isOver) await subscription.next();
      }
      const { files } = await selectTurnFiles(database, run, turn);
      if (files === null) await live.fetch(run, [subscription]);
      yield* subscription.take();
      if (files !== null) yield* chunksOf(files[stream], Math.max(0, subscription.upTo));
    } finally {
      live.unsubscribe(run, subscription);
    }
  }

  return {
    async *read(run, turn, stream, until) {
      const { files, isRunning } = await selectTurnFiles(database, run, turn);
      if (files !== null) yield* chunksOf(files[stream], 0);
      else if (until !== undefined) yield* follow(run, turn, stream, until);
      else if (isRunning) yield* peek(run, turn, stream);
    },
    async sizes(run, turn) {
      const { files } = await selectTurnFiles(database, run, turn);
      if (files === null) return selectSizes(database, run, turn);
      return Object.fromEntries(Object.entries(files).map(([stream, file]) => [stream, sizeOf(file)]));
    },
    watch: (run) => live.tell(run).catch(() => {}),
    findFolder: () => null,
    publish: (run, turn, folder) => publisher.publish(run, turn, folder),
  };
}
