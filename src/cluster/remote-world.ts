import { randomUUID } from 'node:crypto';
import type { Command } from '../core/command.ts';
import type { WhenLost } from '../core/options/option-rows.ts';
import { isReplay } from '../core/options/option-types.ts';
import { unknownCost } from '../core/run/ledger.ts';
import { getAgent, type Run } from '../core/run/run.ts';
import type { Failed, NodeLost, Signal, WorkspaceSignal } from '../core/signals/signal.ts';
import type { PromptTurn, Turn, TurnRef } from '../core/turns/due.ts';
import type { WorkspaceTurn } from '../core/turns/worktree-turns.ts';
import type { World } from '../engine/world.ts';
import {
  deleteTurn,
  insertTurnRequest,
  type RemoteTurn,
  type TurnOutcome,
  type TurnRequest,
  withdrawTurn,
} from '../storage/postgres/remote-turn-rows.ts';
import { FoundCosts } from './lost-costs.ts';
import type { TurnElsewhere } from './lost-nodes.ts';
import { spreadWorktree } from './placements.ts';
import type { QueuedTurn } from './queues.ts';
import type { RemoteTurns } from './remote-turns.ts';

/** The facts about a run when a node starts to drive it. */
export interface RemoteWorldStart extends Pick<QueuedTurn, 'retry' | 'generation'> {
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
  readonly turn: RemoteTurn;
  readonly kind: Travelling['kind'];
  readonly queued: Promise<unknown>;
}

const END: TurnRequest = { id: 'end', command: null };

/**
 * The world of a run that this worker drives: each turn is taken where its agent is at home. A turn is on record before it is
 * sent: after a crash, the next driver of the run sends it again, and finds the same entry and the same end.
 */
export class RemoteWorld implements World {
  private readonly travel: RemoteTurns;
  private readonly start: RemoteWorldStart;
  private readonly over = new AbortController();
  private latest: Run;
  private readonly sentByAgent = new Map<string, Sent>();
  private readonly foundCosts: FoundCosts;
  /** Those that have ended, until that is saved. */
  private readonly ended = new Map<string, RemoteTurn>();

  constructor(travel: RemoteTurns, start: RemoteWorldStart) {
    this.travel = travel;
    this.start = start;
    this.latest = start.initial;
    this.foundCosts = new FoundCosts(travel.database, start.initial, start.send, this.over.signal);
    this.foundCosts.update(start.initial);
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

  save: World['save'] = (steps) => this.start.here.save(steps);

  release = (run: Run, endedTurns: readonly TurnRef[]): void => {
    this.start.here.release(run, endedTurns);
    this.latest = run;
    this.foundCosts.update(run);
    for (const turn of endedTurns) this.forget(turn);
  };

  deliver = (commands: readonly Command[]): void => {
    this.start.here.deliver(commands);
    for (const command of commands) {
      const sent = this.sentByAgent.get(command.agent);
      if (sent !== undefined && sent.turn.turn === String(command.turn)) this.passOn(sent, command);
    }
  };

  notify: World['notify'] = (events) => this.start.here.notify(events);

  /** True if what is said to an agent may be written into a turn of it elsewhere. If it cannot be, the agent's next prompt has it. */
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
    if (turn.node !== this.travel.name) return true;
    return 'number' in turn && this.start.sentBefore.has(`${turn.agent}/${turn.number}`);
  }

  private takeAtHome = (turn: Turn): Promise<Signal | null> =>
    this.isElsewhere(turn) ? this.takeElsewhere(turn) : this.start.here.take(turn);

  private async takeElsewhere(turn: Travelling): Promise<Signal | null> {
    const { agent, node } = turn;
    const { retry, generation, send } = this.start;
    const isNumbered = 'number' in turn;
    const name = isNumbered ? String(turn.number) : `${turn.kind}-${randomUUID()}`;
    const travelling = { run: this.latest.id, agent, turn: name, node: node ?? this.travel.name };
    const transfer = turn.kind === 'worktree' && turn.transfer !== undefined ? { transfer: turn.transfer } : {};
    const queued = this.travel.send({ ...travelling, retry, generation, ...transfer }, this.start.formerBootId);
    const sent = { turn: travelling, kind: turn.kind, queued };
    this.sentByAgent.set(agent, sent);
    if (turn.kind === 'claude') this.repeatCommands(sent, turn);
    try {
      const { isWithdrawn, isUnbegun } = await queued;
      const end = isWithdrawn ? this.lostAgain(turn, travelling, isUnbegun) : await this.waitForEnd(turn, travelling);
      // The row of a turn whose cost is unknown stays: its worker may come back and tell it.
      if (end !== null && 'kind' in end && hasUnknownCost(turn, end)) return end;
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
  private async waitForEnd(turn: Travelling, travelling: RemoteTurn): Promise<TurnOutcome | Signal | null> {
    const { travel, over } = this;
    const ending = travel.waitForEnd(travelling, over.signal);
    const outcome = await travel.lostNodes.endOrLoss(this.watchedTurn(turn, travelling), ending);
    if (outcome === null || !('kind' in outcome)) return outcome;
    const withdrawn = await travel.database.retryUntilReachable(() => withdrawTurn(travel.database, travelling));
    // It has ended just before: that counts.
    if (withdrawn === null) return travel.waitForEnd(travelling, over.signal);
    if (turn.kind === 'workspace') return leaveBehind(turn, travelling.node, outcome);
    // A turn without a record cannot fail: it is taken again when the run continues.
    return outcome.kind === 'home_lost' || 'number' in turn ? this.lostEnd(turn, outcome, withdrawn.isUnbegun) : null;
  }

  /** A turn that an earlier driver has withdrawn from a worker that was gone, without having saved that. */
  private lostAgain(turn: Travelling, travelling: RemoteTurn, isUnbegun: boolean): NodeLost | Failed {
    const end = this.travel.lostNodes.endOfWithdrawn(this.watchedTurn(turn, travelling));
    return this.lostEnd(turn, end, isUnbegun);
  }

  /** The end of a lost turn, with what is known of whether it began. */
  private lostEnd(turn: Travelling, end: NodeLost | Failed, isUnbegun: boolean): NodeLost | Failed {
    if (end.kind === 'home_lost') return { ...end, mayHaveRun: !isUnbegun };
    const mayCost = turn.kind === 'claude' && !isUnbegun;
    return mayCost ? { ...end, cost: unknownCost(isReplay(this.latest.options)) } : end;
  }

  /** A turn as it is looked after while it is under way elsewhere. */
  private watchedTurn(turn: Travelling, travelling: RemoteTurn): TurnElsewhere {
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
  private repeatCommands(sent: Sent, { agent, number: turn }: PromptTurn): void {
    const { messages, interruption } = getAgent(this.latest, agent);
    for (const { id, text, ...message } of messages)
      if (message.turn === turn && !message.delivered) this.passOn(sent, { kind: 'message', id, agent, turn, text });
    if (interruption?.turn === turn) this.passOn(sent, { kind: 'interrupt', id: interruption.id, agent, turn });
  }

  private passOn(sent: Sent, command: Command): void {
    const { id, agent } = command;
    const { database } = this.travel;
    if (command.kind === 'message')
      this.travel.listen(sent.turn, id, () =>
        this.start.send({ kind: 'heard', at: database.clock.now(), about: { agent }, said: id }),
      );
    this.tell(sent, { id, command });
  }

  /** The next driver of the run repeats a request that fails here. */
  private tell({ turn, queued }: Sent, request: TurnRequest): void {
    const { database } = this.travel;
    queued.then(() => database.retryUntilReachable(() => insertTurnRequest(database, turn, request))).catch(() => {});
  }

  private forget({ agent, number }: TurnRef): void {
    const key = `${agent}/${number}`;
    const travelled = this.ended.get(key);
    this.ended.delete(key);
    if (travelled !== undefined) this.drop(travelled);
  }

  /** Only tidiness: a row that stays goes with its run. */
  private drop(turn: RemoteTurn): void {
    deleteTurn(this.travel.database, turn).catch(() => {});
  }
}

/** True if a lost turn may have cost something, and nobody knows how much. */
const hasUnknownCost = (turn: Travelling, end: Signal): boolean =>
  turn.kind === 'claude' &&
  (end.kind === 'home_lost' ? end.mayHaveRun : end.kind === 'failed' && end.cost?.kind === 'unknown');

/** The fate of a run's clone if its node is gone and the run fails for that or is stopped. */
function leaveBehind(
  { isWanted }: WorkspaceTurn,
  home: string,
  { at, kind }: NodeLost | Failed,
): WorkspaceSignal | null {
  const problem = `the worker ${home} is gone, which has the clone of the run; a resume tries again`;
  const content = { kept: true, commits: 0, dirty: false, pushed: false };
  if (!isWanted) return { kind: 'workspace_left', at, content, problem };
  return kind === 'home_lost' ? { kind: 'workspace_refused', at, message: problem } : null;
}
