import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { TurnRef } from '../../core/turns/due.ts';
import { errorMessageOf } from '../../errors.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { TURN_STREAMS, type TurnName, type TurnStream } from '../storage.ts';
import { BEST_EFFORT, type Database } from './database.ts';
import { deletePieces, insertPieces, MAX_LIVE_TURNS, type OutputPiece, selectWatchedRuns } from './live-rows.ts';
import { insertTurnFiles } from './turn-rows.ts';

/** A turn that runs here, and what of its files was sent. */
interface RunningTurn extends TurnName {
  readonly run: string;
  readonly folder: string;
  /** True once the database has its files. */
  isKept: boolean;
  readonly sent: Map<TurnStream, number>;
}

const MAX_PIECE_BYTES = 512 * 1024;
/** The most that one poll sends; the rest follows. */
const MAX_LOOK_BYTES = 4 << 20;
/** The part of a file that a late watcher gets. */
const MAX_KEPT_BYTES = 4 << 20;
/** How long the end of a turn that leaves no files waits until what it said at last is sent, and how long that can be read. */
const SEND_WITHIN_MS = 1_000;
const READ_WITHIN_MS = 3_000;

/** Sends what the turns say that run on this worker to those who watch their runs. Nothing is spent on a run that nobody watches. */
export class LiveOutput {
  private readonly database: Database;
  private readonly worker: string;
  private readonly warn: (message: string) => void;
  private readonly turns = new Map<string, RunningTurn>();
  private watched: ReadonlySet<string> = new Set();

  constructor(database: Database, worker: string, warn: (message: string) => void) {
    this.database = database;
    this.worker = worker;
    this.warn = warn;
  }

  /** Lets others watch a turn until the returned function is called; `keep` puts its files into the database before. */
  publish(run: string, turn: TurnRef, folder: string): (keep: boolean) => Promise<void> {
    const { agent, number } = turn;
    const running: RunningTurn = { run, agent, number, folder, isKept: false, sent: new Map() };
    const key = `${run}/${agent}`;
    this.turns.set(key, running);
    return async (keep) => {
      if (keep) await this.keepFiles(run, turn, folder);
      running.isKept = keep;
      if (this.turns.get(key) === running) this.turns.delete(key);
      const ended = this.end(running).catch(() => {});
      // A database that is away must not keep the end of a turn from being known.
      if (!keep) await Promise.race([ended, delay(SEND_WITHIN_MS, undefined, { ref: false })]);
    };
  }

  private keepFiles(run: string, turn: TurnRef, folder: string): Promise<void> {
    return this.database
      .retryUntilReachable(() => insertTurnFiles(this.database, run, turn, folder), BEST_EFFORT)
      .catch((error: unknown) => this.warn(`a turn of ${run} cannot be shown by logs: ${errorMessageOf(error)}`));
  }

  /** Sends what is new. */
  poll = async (): Promise<void> => {
    if (this.turns.size === 0) return;
    const runs = [...new Set(Array.from(this.turns.values(), ({ run }) => run))];
    this.watched = await selectWatchedRuns(this.database, runs);
    if (this.watched.size === 0) return;
    const counts = new Map<string, number>();
    const turns = [...this.turns.values()].filter(({ run }) => {
      const count = counts.get(run) ?? 0;
      counts.set(run, count + 1);
      return this.watched.has(run) && count < MAX_LIVE_TURNS;
    });
    await this.send(turns);
    for (const turn of turns) {
      const hasEnded = this.turns.get(`${turn.run}/${turn.agent}`) !== turn;
      // Nobody else removes rows that arrive after its end.
      if (hasEnded && turn.isKept) await deletePieces(this.database, turn.run, turn);
      if (!hasEnded) await this.dropOld(turn);
    }
  };

  private async end(turn: RunningTurn): Promise<void> {
    const remove = (): Promise<void> => deletePieces(this.database, turn.run, turn);
    if (turn.isKept) return turn.sent.size === 0 ? undefined : remove();
    if (turn.sent.size === 0 && !this.watched.has(turn.run)) return;
    await this.send([turn]);
    setTimeout(() => remove().catch(() => {}), READ_WITHIN_MS).unref();
  }

  private async send(turns: readonly RunningTurn[]): Promise<void> {
    const pieces: (OutputPiece & { readonly run: string })[] = [];
    let size = 0;
    for (const turn of turns) {
      for (const file of TURN_STREAMS) {
        const piece = size < MAX_LOOK_BYTES ? readNew(turn, file) : null;
        if (piece === null) continue;
        pieces.push({ ...piece, run: turn.run });
        size += piece.bytes.length;
      }
    }
    if (pieces.length === 0) return;
    await insertPieces(this.database, this.worker, pieces);
    const sentOf = new Map(turns.map((turn) => [`${turn.run}/${turn.agent}`, turn.sent]));
    for (const { run, agent, file, position, bytes } of pieces)
      sentOf.get(`${run}/${agent}`)?.set(file, position + bytes.length);
  }

  private async dropOld(turn: RunningTurn): Promise<void> {
    for (const [file, sent] of turn.sent) {
      if (sent <= 2 * MAX_KEPT_BYTES) continue;
      await deletePieces(this.database, turn.run, turn, { file, position: sent - MAX_KEPT_BYTES });
    }
  }
}

/** Reads what is new in a file; null for nothing. The first piece of what a turn was asked is there even if it is empty: the turn has begun. */
function readNew({ agent, number, folder, sent }: RunningTurn, file: TurnStream): OutputPiece | null {
  const path = turnFiles(folder)[file];
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  const before = sent.get(file);
  const position = before ?? Math.max(0, size - MAX_KEPT_BYTES);
  if (size <= position) {
    const isFirst = file === 'stdin' && before === undefined;
    return isFirst ? { agent, number, file, position: 0, bytes: Buffer.alloc(0) } : null;
  }
  const buffer = Buffer.alloc(Math.min(MAX_PIECE_BYTES, size - position));
  const opened = openSync(path, 'r');
  try {
    return {
      agent,
      number,
      file,
      position,
      bytes: buffer.subarray(0, readSync(opened, buffer, 0, buffer.length, position)),
    };
  } finally {
    closeSync(opened);
  }
}
