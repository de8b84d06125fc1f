import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Turn } from '../core/due.ts';
import type { WhenLost } from '../core/fleet-options.ts';
import { getAgent, type Run } from '../core/run.ts';
import type { HomeLost, Signal } from '../core/signal.ts';
import type { WorkspaceLeft } from '../core/workspace-signal.ts';
import type { World } from '../engine/world.ts';
import type { Database } from './database.ts';
import type { LostHomes } from './lost-homes.ts';
import type { QueueClient, QueuedTurn } from './queues.ts';
import { spreadWorktree } from './spread-worktree.ts';
import {
  deleteTurn,
  insertTurn,
  insertTurnRequest,
  selectOutcomes,
  selectTurnNames,
  type TravellingTurn,
  type TurnOutcome,
  type TurnRequest,
  withdrawTurn,
} from './travel-rows.ts';

/** A look finds all ends at once, and there is none while nothing is waited for. */
const POLL_INTERVAL_MS = 50;

/** The world of a run, and the same where the turns are taken that belong here. */
export interface WorldHere extends Pick<QueuedTurn, 'retry' | 'life'> {
  readonly run: string;
  readonly world: World;
  readonly here: World;
  readonly send: (signal: Signal) => void;
  /** The run as it is when it is taken up, and what becomes of its agents whose workers are gone. */
  readonly initial: Run;
  readonly whenLost: WhenLost;
}

/** A turn that is under way elsewhere. */
interface Sent {
  readonly turn: TravellingTurn;
  readonly queued: Promise<void>;
}

type Travelling = Exclude<Turn, { kind: 'sleep' }>;

/**
 * Takes turns where their agents are at home. A turn is on record before it is queued: after a crash, whoever drives the run
 * queues it again, and finds the same entry and the same end.
 */
export class Travel {
  private readonly database: Database;
  private readonly queues: QueueClient;
  private readonly name: string;
  private readonly leaving: AbortSignal;
  private readonly lostHomes: LostHomes;
  private readonly waiting = new Map<string, { run: string; end: (outcome: TurnOutcome | null) => void }>();
  private isLooking = false;

  /** `name` is that of this worker. */
  constructor(database: Database, queues: QueueClient, lostHomes: LostHomes, name: string, leaving: AbortSignal) {
    this.database = database;
    this.queues = queues;
    this.name = name;
    this.leaving = leaving;
    this.lostHomes = lostHomes;
    leaving.addEventListener('abort', () => {
      for (const { end } of this.waiting.values()) end(null);
      this.waiting.clear();
    });
  }

  /** The turns of a run that are on their way since an earlier process drove it, for `wrap`. */
  findSent = (run: string): Promise<ReadonlySet<string>> =>
    this.database.whenReachable(() => selectTurnNames(this.database, run));

  /** The world of a run that spreads over several workers. Turns that were sent before are waited for, wherever they run. */
  wrap({ run, world, here, send, initial, whenLost, ...request }: WorldHere, sentBefore: ReadonlySet<string>): World {
    let latest = initial;
    const preparedHere = new Set<string>();
    const sentByAgent = new Map<string, Sent>();
    const ended = new Map<string, TravellingTurn>();
    const isElsewhere = (turn: Turn): turn is Travelling =>
      turn.kind !== 'sleep' &&
      (turn.home !== this.name || ('number' in turn && sentBefore.has(`${turn.agent}/${turn.number}`)));
    const takeElsewhere = async (turn: Travelling): Promise<Signal | null> => {
      const { agent, home } = turn;
      // An earlier driver may have taken any other itself, as the worker that is gone now.
      const isSurelySent =
        'number' in turn && [preparedHere, sentBefore].some((set) => set.has(`${agent}/${turn.number}`));
      const name = 'number' in turn ? String(turn.number) : `${turn.kind}-${randomUUID()}`;
      const travelling = { run, agent, turn: name, home: home ?? this.name };
      const transfer = turn.kind === 'worktree' && turn.transfer !== undefined ? { transfer: turn.transfer } : {};
      const sent = { turn: travelling, queued: this.queue({ ...travelling, ...request, ...transfer }) };
      sentByAgent.set(agent, sent);
      try {
        await sent.queued;
        // Where nobody has worked yet, nothing is to be waited for. In the clone of a run there may be work that nobody has pushed.
        const isUnused = turn.kind === 'worktree' && turn.transfer?.kind === 'clone' && turn.isWanted;
        const isClone = turn.kind === 'workspace';
        const canMove = (): boolean =>
          isUnused || (latest.workspace === null && getAgent(latest, agent).worktree === null);
        const ifLost = isUnused ? 'rehome' : isClone ? 'wait' : whenLost;
        const outcome = await this.lostHomes.orLost(
          { ...travelling, whenLost: ifLost, isScript: turn.kind === 'script', canMove },
          this.waitForEnd(travelling),
        );
        if (outcome !== null && 'kind' in outcome) {
          this.waiting.delete(keyOf(travelling));
          if ('number' in turn) ended.set(`${agent}/${name}`, travelling);
          else this.forget(travelling);
          if (isClone) return turn.isWanted ? null : leftBehind(travelling.home, outcome.at);
          // What has no record cannot fail: it is taken again when the run goes on.
          if (outcome.kind === 'failed' && !('number' in turn)) return null;
          return outcome.kind === 'home_lost' ? this.callBack(outcome, travelling, isSurelySent) : outcome;
        }
        for (const signal of outcome?.signals ?? []) send(signal);
        if ('number' in turn) ended.set(`${agent}/${name}`, travelling);
        else this.forget(travelling);
        return outcome?.end ?? null;
      } finally {
        if (sentByAgent.get(agent) === sent) sentByAgent.delete(agent);
      }
    };
    const take = (turn: Turn): Promise<Signal | null> => (isElsewhere(turn) ? takeElsewhere(turn) : here.take(turn));
    return {
      prepare: (turn) => {
        if (!isElsewhere(turn)) return here.prepare(turn);
        preparedHere.add(`${turn.agent}/${turn.number}`);
        return world.prepare(turn);
      },
      take: (turn) => (turn.kind === 'worktree' ? spreadWorktree(this.database, run, turn, take) : take(turn)),
      end: (agent) => {
        const sent = sentByAgent.get(agent);
        if (sent === undefined) here.end(agent);
        else this.tell(sent, END);
      },
      save: async (steps) => {
        await here.save(steps);
        latest = steps.at(-1)?.step.run ?? latest;
        for (const event of steps.flatMap(({ step }) => step.events)) {
          if (event.kind !== 'turn_ended') continue;
          const key = `${event.agent}/${event.turn}`;
          preparedHere.delete(key);
          const travelled = ended.get(key);
          ended.delete(key);
          if (travelled !== undefined) this.forget(travelled);
        }
      },
      notify: (events) => {
        here.notify(events);
        for (const event of events) {
          if (event.kind !== 'said' && event.kind !== 'turn_interrupted') continue;
          const sent = sentByAgent.get(event.agent);
          if (sent === undefined || sent.turn.turn !== String(event.turn)) continue;
          this.tell(sent, { id: event.kind === 'said' ? event.said : event.interrupt, event });
        }
      },
    };
  }

  private async queue(turn: QueuedTurn): Promise<void> {
    await this.database.whenReachable(() =>
      this.database.transaction(async (client) => {
        await insertTurn(client, turn);
        await this.queues.addTurn(client, turn);
      }),
    );
  }

  /** Looks whether a turn has not got to the worker that is gone: then it surely did not run, and never will. */
  private async callBack(lost: HomeLost, turn: TravellingTurn, isSurelySent: boolean): Promise<HomeLost> {
    const isBack = isSurelySent && (await this.database.whenReachable(() => withdrawTurn(this.database, turn)));
    return isBack ? { ...lost, mayHaveRun: false } : lost;
  }

  /** Waits for the end of a turn; null if this worker leaves before: the turn goes on, and whoever drives the run finds it. */
  private waitForEnd(turn: TravellingTurn): Promise<TurnOutcome | null> {
    if (this.leaving.aborted) return Promise.resolve(null);
    return new Promise((end) => {
      this.waiting.set(keyOf(turn), { run: turn.run, end });
      if (!this.isLooking) this.lookForEnds();
    });
  }

  private async lookForEnds(): Promise<void> {
    this.isLooking = true;
    while (this.waiting.size > 0) {
      const runs = [...new Set(Array.from(this.waiting.values(), ({ run }) => run))];
      const ended = await this.database.whenReachable(() => selectOutcomes(this.database, runs)).catch(() => []);
      for (const { outcome, ...turn } of ended) {
        this.waiting.get(keyOf(turn))?.end(outcome);
        this.waiting.delete(keyOf(turn));
      }
      await delay(POLL_INTERVAL_MS);
    }
    this.isLooking = false;
  }

  /** What cannot be told now is told again by whoever drives the run after this. */
  private tell({ turn, queued }: Sent, request: TurnRequest): void {
    queued
      .then(() => this.database.whenReachable(() => insertTurnRequest(this.database, turn, request)))
      .catch(() => {});
  }

  /** Only tidiness: a row that stays goes with its run. */
  private forget(turn: TravellingTurn): void {
    deleteTurn(this.database, turn).catch(() => {});
  }
}

/** The clone of a run that was stopped while the worker was gone that has it. */
const leftBehind = (home: string, at: number): WorkspaceLeft => ({
  kind: 'workspace_left',
  at,
  content: { kept: true, commits: 0, dirty: false, pushed: false },
  problem: `the worker ${home} is gone, which has the clone of the run; a resume pushes what is in it`,
});

const END: TurnRequest = { id: 'end', event: null };

const keyOf = ({ run, agent, turn }: Omit<TravellingTurn, 'home'>): string => `${run}/${agent}/${turn}`;
