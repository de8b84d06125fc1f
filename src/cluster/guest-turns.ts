import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getAgent, type Run } from '../core/run/run.ts';
import type { Signal } from '../core/signals/signal.ts';
import { due, type PromptTurn, type ScriptTurn } from '../core/turns/due.ts';
import type { WorkspaceTurn, WorktreeTurn } from '../core/turns/worktree-turns.ts';
import { errorMessageOf } from '../errors.ts';
import { ASKS_FOLDER } from '../language/ask.ts';
import { placeUploads } from '../storage/answers.ts';
import { LeaseLostError } from '../storage/opened-run.ts';
import { createDatabaseBlobs } from '../storage/postgres/blobs.ts';
import { createDatabaseInbox } from '../storage/postgres/inbox.ts';
import { onceEach } from '../storage/postgres/parse-row.ts';
import {
  acceptTurn,
  keyOf,
  type RemoteTurn,
  recordProblem,
  selectTurnRequests,
  storeOutcome,
} from '../storage/postgres/remote-turn-rows.ts';
import { failedSignal } from '../turns/signals.ts';
import { type GuestWorld, openGuestWorld, RunCopy } from './guest-world.ts';
import type { NodeContext } from './node-run.ts';
import type { DriveRequest, QueuedTurn } from './queues.ts';

/** The part of a run on this node that another node drives. */
interface Guest {
  readonly copy: Promise<RunCopy>;
  opened: OpenWorld | undefined;
}

/** A world of a run, with what it was opened for, and the agents whose turns are under way in it. */
interface OpenWorld {
  readonly key: string;
  readonly world: Promise<GuestWorld>;
  readonly agents: Set<string>;
  /** True if it is closed when nothing is under way in it. */
  isLeft: boolean;
}

/** A run that this process drives, and how often the run had moved before. */
interface Drive {
  readonly move: number;
  readonly over: Promise<unknown>;
  /** Aborted once the run is known to have moved. */
  readonly lost: AbortController;
}

/** A turn that runs here. */
interface TurnUnderWay {
  readonly agent: string;
  readonly run: string;
  readonly world: GuestWorld;
  /** The requests that were passed on to it. */
  readonly told: Set<string>;
}

type TravelledTurn = PromptTurn | ScriptTurn | WorktreeTurn | WorkspaceTurn;

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Takes turns of agents that are at home on this worker, for the runs that other workers drive. It may be done again after a
 * crash at any instant: a turn that has begun is looked for, and never begun twice.
 */
export class GuestTurns {
  private readonly worker: NodeContext;
  private readonly warnOnce: (message: string) => void;
  private readonly guests = new Map<string, Guest>();
  private readonly underWay = new Map<string, TurnUnderWay>();
  private readonly drives = new Map<string, readonly Drive[]>();

  constructor(worker: NodeContext) {
    this.worker = worker;
    this.warnOnce = onceEach(worker.warn);
  }

  /** Takes a turn. False if it is left to the next start of this worker. */
  async take(queued: QueuedTurn): Promise<boolean> {
    const { warn, leaving } = this.worker;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        return await this.tryToTake(queued, waitMs > FIRST_WAIT_MS);
      } catch (error) {
        const name = `turn ${queued.turn} of ${queued.agent} in ${queued.run}`;
        warn(`${name} could not be taken, and is tried again in ${waitMs / 1000} s: ${errorMessageOf(error)}`);
        await recordProblem(this.worker.database, queued, errorMessageOf(error)).catch(() => {});
        await delay(waitMs, undefined, { signal: leaving }).catch(() => {});
        if (leaving.aborted) return false;
      }
    }
  }

  /** Looks for what the turns that run here are told, and closes what runs have left behind that have ended. */
  poll = async (): Promise<void> => {
    if (this.guests.size === 0) return;
    const { database, name } = this.worker;
    for (const { id, command, ...turn } of this.underWay.size === 0
      ? []
      : await selectTurnRequests(database, name, this.warnOnce)) {
      const taken = this.underWay.get(keyOf(turn));
      if (taken === undefined || taken.told.has(id)) continue;
      // Its prompt may not be sent yet; what it never gets is for the next one.
      if (command?.kind === 'message' && !taken.world.canReach(taken.agent)) continue;
      // It is told to end until it has: it may not have begun yet.
      if (command === null) taken.world.world.end(taken.agent);
      else taken.world.world.deliver([command]);
      if (command !== null) taken.told.add(id);
    }
    const guests = [...this.guests.keys()];
    const runs = await database.query<{ id: string; status: string; ends: boolean }>(
      `select id, status,
         exists (select 1 from raymond.requests where run = runs.id and requests.id = 'stop-now-' || generation) as ends
       from raymond.runs where id = any($1)`,
      [guests],
    );
    for (const { id, ends } of runs) {
      if (ends) for (const { run, agent, world } of this.underWay.values()) if (run === id) world.world.end(agent);
    }
    // One that was removed meanwhile has no row any more.
    const going = new Set(runs.filter(({ status }) => status === 'running').map(({ id }) => id));
    for (const id of guests) if (!going.has(id)) await this.leave(id);
  };

  /** Gives a run up that this process has driven and another worker drives now: turns have one keeper. */
  private async giveUpFormerDrives(run: string): Promise<void> {
    const { database } = this.worker;
    if (!this.drives.has(run)) return;
    const rows = await database.retryUntilReachable(() =>
      database.query<{ move: number }>('select move from raymond.runs where id = $1', [run]),
    );
    const former = (this.drives.get(run) ?? []).filter(({ move }) => move < (rows[0]?.move ?? 0));
    for (const { lost } of former) lost.abort(new LeaseLostError(run));
    await Promise.allSettled(former.map(({ over }) => over));
  }

  /** Drives a run from here: its conversations are free for that, as soon as what is under way in them has ended. */
  async driveHere<T>({ run, move = 0 }: DriveRequest, drive: (lost: AbortSignal) => Promise<T>): Promise<T> {
    const lost = new AbortController();
    const over = this.leave(run).then(() => drive(lost.signal));
    const driving = { move, over, lost };
    this.drives.set(run, [...(this.drives.get(run) ?? []), driving]);
    try {
      return await over;
    } finally {
      const others = (this.drives.get(run) ?? []).filter((each) => each !== driving);
      if (others.length > 0) this.drives.set(run, others);
      else this.drives.delete(run);
    }
  }

  /** Closes what there is of a run that is over, or is driven from here from now on. */
  private async leave(run: string): Promise<void> {
    const opened = this.guests.get(run)?.opened;
    this.guests.delete(run);
    if (opened !== undefined) await closeWhenIdle(opened);
  }

  private async tryToTake(queued: QueuedTurn, hadProblem: boolean): Promise<boolean> {
    const { database, bootId, leaving } = this.worker;
    const boot = bootId ?? '';
    const gaps = this.worker.countMissedHeartbeats();
    const firstBoot = await database.retryUntilReachable(() => acceptTurn(database, queued, boot));
    if (firstBoot === undefined) return true;
    await this.giveUpFormerDrives(queued.run);
    const guest = this.guests.get(queued.run) ?? { copy: RunCopy.load(database, queued.run), opened: undefined };
    this.guests.set(queued.run, guest);
    guest.copy.catch(() => this.guests.delete(queued.run));
    const copy = await guest.copy;
    const run = await copy.read();
    const opened = this.openWorld(guest, queued, run, { mark: copy.mark, gaps });
    try {
      const world = await opened.world;
      const found = findTurn(world.adapt(run), queued);
      const { transfer } = queued;
      const turn = found?.kind === 'worktree' && transfer !== undefined ? { ...found, transfer } : found;
      // The journal does not hold it open any more.
      if (turn === undefined) {
        await database.retryUntilReachable(() => storeOutcome(database, queued, { signals: [], end: null }));
        return true;
      }
      if (firstBoot !== boot && 'number' in turn) world.doubtful.add(`${turn.agent}/${turn.number}`);
      if (hadProblem) await recordProblem(database, queued, null);
      const refused = await this.prepare(world, world.adapt(run), turn);
      // Not before: nothing can be passed on to it until it is taken.
      this.underWay.set(keyOf(queued), { agent: queued.agent, run: queued.run, world, told: new Set() });
      const end = refused ?? (await world.world.take(turn));
      if (end === null && leaving.aborted) return false;
      opened.agents.delete(queued.agent);
      // Before its end counts: the next turn of the conversation may be taken elsewhere.
      if (opened.isLeft) await closeWhenIdle(opened);
      else if (this.drives.has(queued.run)) await this.leave(queued.run);
      const outcome = { signals: world.signals.splice(0), end };
      await database.retryUntilReachable(() => storeOutcome(database, queued, outcome));
      return true;
    } catch (error) {
      opened.agents.delete(queued.agent);
      if (opened.isLeft) await closeWhenIdle(opened).catch(() => {});
      throw error;
    } finally {
      opened.agents.delete(queued.agent);
      this.underWay.delete(keyOf(queued));
    }
  }

  /** The world of a run; a new one if the run was resumed or has entered another workflow, or this worker may have been taken for gone. */
  private openWorld(
    guest: Guest,
    { agent, generation, retry }: QueuedTurn,
    run: Run,
    { mark, gaps }: { readonly mark: string; readonly gaps: number },
  ): OpenWorld {
    const key = `${generation}/${Object.keys(run.workflows).length}/${gaps}`;
    if (guest.opened !== undefined && guest.opened.key !== key) {
      closeWhenIdle(guest.opened).catch(() => {});
      guest.opened = undefined;
    }
    if (guest.opened === undefined) {
      const world = openGuestWorld(this.worker, run, { mark, retry, gaps });
      const opened: OpenWorld = { key, world, agents: new Set(), isLeft: false };
      world.catch(() => {
        if (guest.opened === opened) guest.opened = undefined;
      });
      guest.opened = opened;
    }
    guest.opened.agents.add(agent);
    return guest.opened;
  }

  /** Makes a turn ready that has not begun; returns its end if it cannot begin. */
  private async prepare(
    { world, doubtful, signals }: GuestWorld,
    run: Run,
    turn: TravelledTurn,
  ): Promise<Signal | null> {
    const { layout, database } = this.worker;
    world.release(run, []);
    if (!('number' in turn)) return null;
    const isOld = existsSync(layout.turnFolder(run.id, turn)) || doubtful.has(`${turn.agent}/${turn.number}`);
    if (isOld) return null;
    const agent = getAgent(run, turn.agent);
    if (agent.askId !== null && turn.taskFolder !== null) {
      const answer = (await createDatabaseInbox(database).find(run.id, agent.askId))?.request;
      const files = answer?.kind === 'answer' ? answer.files : [];
      await placeUploads(createDatabaseBlobs(database), files, join(turn.taskFolder, ASKS_FOLDER, agent.askId));
    }
    const words = agent.messages.filter(({ turn: number, delivered }) => number === turn.number && delivered);
    const prepared = await world.prepare(turn.kind === 'claude' ? { ...turn, words } : turn);
    if (prepared.kind !== 'began')
      return failedSignal(turn, prepared.at, {
        kind: 'invalid_request',
        message: prepared.message,
        ...('changed' in prepared && prepared.changed !== undefined && { changed: prepared.changed }),
      });
    const about = { agent: turn.agent, state: turn.state };
    for (const message of prepared.warnings) signals.push({ kind: 'noticed', at: prepared.at, about, message });
    return null;
  }
}

/** The turn that a run holds open, as it is on this worker. */
const findTurn = (run: Run, { agent, turn: name }: RemoteTurn): TravelledTurn | undefined =>
  due(run).find((turn): turn is TravelledTurn => {
    if (turn.agent !== agent || turn.kind === 'sleep') return false;
    return 'number' in turn ? turn.record !== null && name === String(turn.number) : name.startsWith(turn.kind);
  });

/** Closes a world once nothing is under way in it. */
async function closeWhenIdle(opened: OpenWorld): Promise<void> {
  opened.isLeft = true;
  if (opened.agents.size === 0) await (await opened.world).close();
}
