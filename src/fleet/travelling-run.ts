import { randomUUID } from 'node:crypto';
import type { ClaudeTurn, Turn } from '../core/due.ts';
import type { AppliedStep, Event } from '../core/event.ts';
import type { WhenLost } from '../core/fleet-options.ts';
import { isReplay } from '../core/option-types.ts';
import { getAgent, type Run } from '../core/run.ts';
import type { SaidToAgent, TurnInterrupted } from '../core/said.ts';
import type { Failed, HomeLost, Signal } from '../core/signal.ts';
import type { WorkspaceSignal } from '../core/workspace-signal.ts';
import type { WorkspaceTurn } from '../core/worktree-turns.ts';
import type { World } from '../engine/world.ts';
import type { TurnElsewhere } from './lost-homes.ts';
import type { QueuedTurn } from './queues.ts';
import { spreadWorktree } from './spread-worktree.ts';
import type { Travel } from './travel.ts';
import {
  deleteTurn,
  insertTurnRequest,
  type TravellingTurn,
  type TurnOutcome,
  type TurnRequest,
  withdrawTurn,
} from './travel-rows.ts';

/** What is known of a run when it is taken up. */
export interface TravellingRunStart extends Pick<QueuedTurn, 'retry' | 'life'> {
  readonly initial: Run;
  readonly whenLost: WhenLost;
  /** The turns, as `agent/number`, that an earlier driver has sent to other workers: their ends are waited for, wherever they run. */
  readonly sentBefore: ReadonlySet<string>;
  /** The boot of the machine on which the run was driven before; null if it is not known. */
  readonly formerBootId: string | null;
  /** The world of the run, and the same with what turns need that are taken on this worker. */
  readonly world: World;
  readonly here: World;
  readonly send: (signal: Signal) => void;
}

type Travelling = Exclude<Turn, { kind: 'sleep' }>;

/** A turn that is under way elsewhere. */
interface Sent {
  readonly turn: TravellingTurn;
  readonly kind: Travelling['kind'];
  readonly queued: Promise<unknown>;
}

const END: TurnRequest = { id: 'end', event: null };

/**
 * The world of a run that this worker drives: each turn is taken where its agent is at home. A turn is on record before it is
 * sent: after a crash, whoever drives the run sends it again, and finds the same entry and the same end.
 */
export class TravellingRun implements World {
  private readonly travel: Travel;
  private readonly start: TravellingRunStart;
  private readonly over = new AbortController();
  private latest: Run;
  private readonly sentByAgent = new Map<string, Sent>();
  /** Those that have ended, until that is saved. */
  private readonly ended = new Map<string, TravellingTurn>();

  constructor(travel: Travel, start: TravellingRunStart) {
    this.travel = travel;
    this.start = start;
    this.latest = start.initial;
  }

  prepare: World['prepare'] = (turn) => {
    const { here, world } = this.start;
    return (this.isElsewhere(turn) ? world : here).prepare(turn);
  };

  take = (turn: Turn): Promise<Signal | null> => {
    if (turn.kind !== 'worktree') return this.takeAtHome(turn);
    const { agent, state } = turn;
    const { database } = this.travel;
    const warn = (message: string): void =>
      this.start.send({ kind: 'noticed', at: database.clock.now(), about: { agent, state }, message });
    return spreadWorktree(database, this.latest.id, turn, this.takeAtHome, warn);
  };

  end = (agent: string): void => {
    const sent = this.sentByAgent.get(agent);
    if (sent === undefined) this.start.here.end(agent);
    else this.tell(sent, END);
  };

  save = async (steps: readonly AppliedStep[]): Promise<void> => {
    await this.start.here.save(steps);
    this.latest = steps.at(-1)?.step.run ?? this.latest;
    for (const event of steps.flatMap(({ step }) => step.events)) if (event.kind === 'turn_ended') this.forget(event);
  };

  notify = (events: readonly Event[]): void => {
    this.start.here.notify(events);
    for (const event of events) {
      if (event.kind !== 'said' && event.kind !== 'turn_interrupted') continue;
      const sent = this.sentByAgent.get(event.agent);
      if (sent !== undefined && sent.turn.turn === String(event.turn)) this.passOn(sent, event);
    }
  };

  /** Whether what is said to an agent may be written into a turn of it elsewhere. If it cannot be, the agent's next prompt has it. */
  canReach(agent: string): boolean {
    const { options } = this.latest;
    return this.sentByAgent.get(agent)?.kind === 'claude' && (options.keepOpenMs ?? 0) > 0 && !isReplay(options);
  }

  /** Waits for nothing more: this process does not drive the run any longer. */
  close(): void {
    this.over.abort();
  }

  private isElsewhere(turn: Turn): turn is Travelling {
    if (turn.kind === 'sleep') return false;
    if (turn.home !== this.travel.name) return true;
    return 'number' in turn && this.start.sentBefore.has(`${turn.agent}/${turn.number}`);
  }

  private takeAtHome = (turn: Turn): Promise<Signal | null> =>
    this.isElsewhere(turn) ? this.takeElsewhere(turn) : this.start.here.take(turn);

  private async takeElsewhere(turn: Travelling): Promise<Signal | null> {
    const { agent, home } = turn;
    const { retry, life, send } = this.start;
    const isNumbered = 'number' in turn;
    const name = isNumbered ? String(turn.number) : `${turn.kind}-${randomUUID()}`;
    const travelling = { run: this.latest.id, agent, turn: name, home: home ?? this.travel.name };
    const transfer = turn.kind === 'worktree' && turn.transfer !== undefined ? { transfer: turn.transfer } : {};
    const queued = this.travel.send({ ...travelling, retry, life, ...transfer }, this.start.formerBootId);
    const sent = { turn: travelling, kind: turn.kind, queued };
    this.sentByAgent.set(agent, sent);
    if (turn.kind === 'claude') this.repeatWords(sent, turn);
    try {
      const { isWithdrawn, isUnbegun } = await queued;
      const end = isWithdrawn ? this.lostAgain(turn, travelling, isUnbegun) : await this.waitForEnd(turn, travelling);
      if (isNumbered) this.ended.set(`${agent}/${name}`, travelling);
      else this.drop(travelling);
      if (end === null || !('signals' in end)) return end;
      for (const signal of end.signals) send(signal);
      return end.end;
    } finally {
      if (this.sentByAgent.get(agent) === sent) this.sentByAgent.delete(agent);
    }
  }

  /** Waits for how a turn ended, or for the loss of its worker, whichever the database has first. */
  private async waitForEnd(turn: Travelling, travelling: TravellingTurn): Promise<TurnOutcome | Signal | null> {
    const { travel, over } = this;
    const ending = travel.waitForEnd(travelling, over.signal);
    const outcome = await travel.lostHomes.endOrLoss(this.watchedTurn(turn, travelling), ending);
    if (outcome === null || !('kind' in outcome)) return outcome;
    const withdrawn = await travel.database.whenReachable(() => withdrawTurn(travel.database, travelling));
    // It has ended just before: that counts.
    if (withdrawn === null) return travel.waitForEnd(travelling, over.signal);
    if (turn.kind === 'workspace') return leaveBehind(turn, travelling.home, outcome);
    if (outcome.kind === 'home_lost') return { ...outcome, mayHaveRun: !withdrawn.isUnbegun };
    // What has no record cannot fail: it is taken again when the run goes on.
    return 'number' in turn ? outcome : null;
  }

  /** A turn that an earlier driver has withdrawn from a worker that was gone, without having saved that. */
  private lostAgain(turn: Travelling, travelling: TravellingTurn, isUnbegun: boolean): HomeLost | Failed {
    const end = this.travel.lostHomes.endOfWithdrawn(this.watchedTurn(turn, travelling));
    return end.kind === 'home_lost' ? { ...end, mayHaveRun: !isUnbegun } : end;
  }

  /** A turn as it is looked after while it is under way elsewhere. */
  private watchedTurn(turn: Travelling, travelling: TravellingTurn): TurnElsewhere {
    const { whenLost } = this.start;
    // Where nobody has worked yet, nothing is to be waited for. In the clone of a run there may be work that nobody has pushed.
    const isUnused = turn.kind === 'worktree' && turn.transfer?.kind === 'clone';
    return {
      ...travelling,
      whenLost: isUnused ? 'rehome' : whenLost,
      isScript: turn.kind === 'script',
      canMove: () =>
        isUnused || (this.latest.workspace === null && getAgent(this.latest, turn.agent).worktree === null),
    };
  }

  /** Passes on what the journal has for a turn: an earlier driver may not have come to it. Its worker gets each only once. */
  private repeatWords(sent: Sent, { agent, state, number }: ClaudeTurn): void {
    const { said, interruption } = getAgent(this.latest, agent);
    const about = { agent, state, refused: null };
    for (const { id, heard, ...words } of said)
      if (words.turn === number && !heard)
        this.passOn(sent, { kind: 'said', at: words.saidAt, ...about, said: id, ...words });
    if (interruption?.turn !== number) return;
    const { id, ...wanted } = interruption;
    this.passOn(sent, { kind: 'turn_interrupted', at: wanted.saidAt, ...about, interrupt: id, ...wanted });
  }

  private passOn(sent: Sent, event: SaidToAgent | TurnInterrupted): void {
    const id = event.kind === 'said' ? event.said : event.interrupt;
    if (event.kind === 'said')
      this.travel.listen(sent.turn, id, () =>
        this.start.send({
          kind: 'heard',
          at: this.travel.database.clock.now(),
          about: { agent: event.agent },
          said: id,
        }),
      );
    this.tell(sent, { id, event });
  }

  /** What cannot be told now is told again by whoever drives the run after this. */
  private tell({ turn, queued }: Sent, request: TurnRequest): void {
    const { database } = this.travel;
    queued.then(() => database.whenReachable(() => insertTurnRequest(database, turn, request))).catch(() => {});
  }

  private forget({ agent, turn }: { readonly agent: string; readonly turn: number }): void {
    const key = `${agent}/${turn}`;
    const travelled = this.ended.get(key);
    this.ended.delete(key);
    if (travelled !== undefined) this.drop(travelled);
  }

  /** Only tidiness: a row that stays goes with its run. */
  private drop(turn: TravellingTurn): void {
    deleteTurn(this.travel.database, turn).catch(() => {});
  }
}

/** What becomes of the clone of a run if the worker is gone that has it, and the run fails for that or is stopped. */
function leaveBehind(
  { isWanted }: WorkspaceTurn,
  home: string,
  { at, kind }: HomeLost | Failed,
): WorkspaceSignal | null {
  const problem = `the worker ${home} is gone, which has the clone of the run; a resume tries again`;
  const content = { kept: true, commits: 0, dirty: false, pushed: false };
  if (!isWanted) return { kind: 'workspace_left', at, content, problem };
  return kind === 'home_lost' ? { kind: 'workspace_refused', at, message: problem } : null;
}
