import { appendFileSync, existsSync, mkdirSync, readdirSync, truncateSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { turnFiles } from '../process/turn-files.ts';
import type { Database } from './database.ts';
import { LIVE_FILES, type LiveFile, noteWatcher, selectPieces, type TurnName } from './live-rows.ts';
import { restOf, type StoredFile, type TurnFilesCache } from './turn-rows.ts';

/** A turn whose files are put together here as it goes on. */
interface FollowedTurn extends TurnName {
  readonly folder: string;
  /** The bytes of each file that are here or were left out; -1 if nothing is known of it. */
  readonly upTo: Record<LiveFile, number>;
  /** The files that end in the middle of a line. */
  readonly midLine: Set<LiveFile>;
  /** Settles when its first piece is here, or it has ended. */
  readonly arrived: Promise<void>;
  readonly arrive: () => void;
}

/** How often workers are told that somebody still watches. */
const TELL_EVERY_MS = 3_000;
/** How long a glance may take, and how often it looks. */
const GLANCE_MS = 1_500;
const LOOK_EVERY_MS = 50;

/** Follows turns that run on workers: their files are put together here, piece by piece, and completed when the turns have ended. */
export class LiveTurns {
  private readonly database: Database;
  private readonly files: TurnFilesCache;
  /** By run, then by agent and number. */
  private readonly followed = new Map<string, Map<string, FollowedTurn>>();
  /** The turns that are looked for, whose end may come meanwhile. */
  private readonly beginning = new Map<string, Promise<FollowedTurn>>();
  private readonly toldAt = new Map<string, number>();
  /** Until when the last glance at the turns of a run has waited. */
  private readonly glances = new Map<string, number>();

  constructor(database: Database, files: TurnFilesCache) {
    this.database = database;
    this.files = files;
  }

  /** The folder of a turn that has begun, as soon as there is something of it, and at the latest when `until` settles. */
  async folderOf(run: string, turn: TurnName, until: Promise<unknown>): Promise<string> {
    const { folder, arrived } = this.find(run, turn) ?? (await this.begin(run, turn));
    await Promise.race([arrived, until]);
    return folder;
  }

  /** The folder of a turn that may be running, with what it has said up to now if its worker tells that soon. It is not followed any longer. */
  async glance(run: string, turn: TurnName): Promise<string> {
    const isFollowed = this.find(run, turn) !== undefined;
    // One wait for all turns of a run: their workers look at the same time.
    const [now, lastMs = 0] = [Date.now(), this.glances.get(run)];
    const untilMs = now < lastMs + GLANCE_MS ? lastMs : now + GLANCE_MS;
    this.glances.set(run, untilMs);
    let isHere = false;
    const found = this.folderOf(run, turn, delay(Math.max(0, untilMs - now))).finally(() => {
      isHere = true;
    });
    while (!isHere) {
      await this.look(run);
      await Promise.race([found, delay(LOOK_EVERY_MS)]);
    }
    const followed = this.find(run, turn);
    if (!isFollowed && followed !== undefined) this.forget(run, followed);
    const folder = await found;
    // Without any file, nothing is known of it.
    if (!isFollowed && readdirSync(folder).length === 0) this.files.remove(run, turn);
    return folder;
  }

  /** Fetches what the followed turns of a run have said since, and lets its workers know that somebody watches. It never throws. */
  async look(run: string): Promise<void> {
    try {
      const now = Date.now();
      if (now - (this.toldAt.get(run) ?? 0) >= TELL_EVERY_MS) {
        this.toldAt.set(run, now);
        await noteWatcher(this.database, run);
      }
      await this.fetch(run, [...(this.followed.get(run)?.values() ?? [])]);
    } catch {
      // What cannot be seen now is there when the turn has ended.
    }
  }

  /** Completes the files of a turn that has ended, if it is followed. It never throws. */
  async complete(run: string, turn: TurnName): Promise<void> {
    await this.beginning.get(`${run}/${nameOf(turn)}`)?.catch(() => {});
    const followed = this.find(run, turn);
    if (followed === undefined) return;
    try {
      const stored = await this.files.read(run, turn);
      if (stored === null) await this.fetch(run, [followed]);
      else for (const file of LIVE_FILES) addRest(followed, file, stored[file]);
    } catch {
      // It stays as it is.
    }
    this.forget(run, followed);
  }

  /** Follows no turn of a run any more. */
  leave(run: string): void {
    for (const followed of this.followed.get(run)?.values() ?? []) this.forget(run, followed);
  }

  private find(run: string, turn: TurnName): FollowedTurn | undefined {
    return this.followed.get(run)?.get(nameOf(turn));
  }

  private begin(run: string, turn: TurnName): Promise<FollowedTurn> {
    const key = `${run}/${nameOf(turn)}`;
    const beginning = this.beginning.get(key) ?? this.follow(run, turn).finally(() => this.beginning.delete(key));
    this.beginning.set(key, beginning);
    return beginning;
  }

  private async follow(run: string, turn: TurnName): Promise<FollowedTurn> {
    const folder = await this.files.folderOf(run, turn);
    let arrive = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const upTo = { stdin: -1, stdout: -1, stderr: -1 };
    const { agent, number } = turn;
    const followed: FollowedTurn = { agent, number, folder, upTo, midLine: new Set(), arrived, arrive };
    if (existsSync(folder)) {
      // It has ended already, and its files are complete.
      arrive();
      return followed;
    }
    mkdirSync(folder, { mode: 0o700 });
    const turns = this.followed.get(run) ?? new Map<string, FollowedTurn>();
    this.followed.set(run, turns.set(nameOf(turn), followed));
    return followed;
  }

  private forget(run: string, followed: FollowedTurn): void {
    const turns = this.followed.get(run);
    turns?.delete(nameOf(followed));
    if (turns?.size === 0) this.followed.delete(run);
    followed.arrive();
  }

  private async fetch(run: string, turns: readonly FollowedTurn[]): Promise<void> {
    if (turns.length === 0) return;
    const watched = turns.flatMap(({ agent, number, upTo }) =>
      LIVE_FILES.map((file) => ({ agent, number, file, upTo: upTo[file] })),
    );
    const byName = new Map(turns.map((turn) => [nameOf(turn), turn]));
    for (const piece of await selectPieces(this.database, run, watched)) {
      const followed = byName.get(nameOf(piece));
      if (followed === undefined) continue;
      addPiece(followed, piece.file, piece.position, piece.bytes);
    }
    for (const { upTo, arrive } of turns) if (LIVE_FILES.some((file) => upTo[file] >= 0)) arrive();
  }
}

const nameOf = ({ agent, number }: TurnName): string => `${agent}/${number}`;

const LINE_FEED = 0x0a;

/** Adds a piece to a file. If something is missing before it, it begins with its first whole line. */
function addPiece({ folder, upTo, midLine }: FollowedTurn, file: LiveFile, position: number, bytes: Buffer): void {
  const path = turnFiles(folder)[file];
  const here = Math.max(0, upTo[file]);
  if (position + bytes.length < upTo[file]) return;
  const isGap = position > here;
  const added = isGap ? bytes.subarray(bytes.indexOf(LINE_FEED) + 1) : bytes.subarray(here - position);
  if (isGap && midLine.has(file)) appendFileSync(path, '\n');
  appendFileSync(path, added, { mode: 0o600 });
  upTo[file] = position + bytes.length;
  if (bytes.length === 0 || bytes.at(-1) === LINE_FEED) midLine.delete(file);
  else midLine.add(file);
}

/** Adds what is missing at the end of a file that is complete now. */
function addRest({ folder, upTo }: FollowedTurn, file: LiveFile, stored: StoredFile | undefined): void {
  if (stored === undefined) return;
  const path = turnFiles(folder)[file];
  const rest = restOf(stored, Math.max(0, upTo[file]));
  // It was emptied meanwhile: it begins anew.
  if (rest === null) truncateSync(path);
  appendFileSync(path, rest ?? stored.bytes, { mode: 0o600 });
}
