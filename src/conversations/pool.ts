import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Options } from '../core/options/options.ts';
import type { Run } from '../core/run/run.ts';
import type { TurnRef } from '../core/turns/due.ts';
import type { NotStarted, ProcessRef } from '../process/command.ts';
import { END_GRACE_MS, endTurn } from '../process/end.ts';
import { waitForEnd } from '../process/find.ts';
import {
  type Conversation,
  type ConversationEffect,
  type ConversationEvent,
  heldSession,
  isSameTurn,
  type Purpose,
  sessionOf,
  type TurnMessage,
  transition,
  unsavedTurn,
} from './conversation.ts';
import type { IdleLimit } from './idle-limit.ts';
import { isNeeded, isOnRecord } from './needed.ts';
import type { Connection, ConnectionEvents } from './protocol.ts';
import { type ConversationFolders, conversationRef, findOrphans, type Opener, recordConversation } from './records.ts';

/** Everything that a pool needs of its run. */
export interface PoolContext extends ConversationFolders {
  readonly options: Pick<Options, 'keepOpenMs' | 'parallel'>;
  /** Limits the processes without a turn of all runs of this process; left out where each run has its own limit only. */
  readonly idleLimit?: IdleLimit;
}

/** Tells others what becomes of conversations without a turn. */
export interface PoolEvents {
  /** A process that was started early is closed without a prompt. */
  readonly onUnused: (pooled: Pick<Pooled<unknown>, 'opener'>) => void;
  /** A process has exited by itself after this turn, instead of waiting for the next one. */
  readonly onEnded: (lastTurn: TurnRef) => void;
}

/** A conversation of the pool, and the process behind it. */
export interface Pooled<C> {
  readonly opener: TurnRef & Opener;
  /** Turns with the same key can share the process. */
  readonly key: string;
  readonly process: ProcessRef;
  readonly conversation: Conversation;
  /** Null until the process has started, after it has exited, and for an orphan. */
  readonly connection: C | null;
}

interface Entry<C> extends Pooled<C> {
  conversation: Conversation;
  connection: C | null;
  timer: NodeJS.Timeout | null;
  /** Closes it, unless a fork reads it. */
  readonly close: () => void;
  /** Its effects that are under way; null if there are none. */
  work: Promise<unknown> | null;
}

/** How many are kept if the run has no limit of prompt turns at once. */
const DEFAULT_LIMIT = 8;
/** The longest time that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The part of a connection that concerns the pool. */
export type AnyConnection = Pick<Connection<never, unknown>, 'exited' | 'steer' | 'interrupt' | 'hangUp'>;

/** The conversations of a run: hands them to turns, keeps them open in between, closes and removes those that nobody needs. */
export class Pool<C extends AnyConnection> {
  private readonly context: PoolContext;
  private readonly events: PoolEvents;
  /** The longest idle first. */
  private readonly entries = new Set<Entry<C>>();
  private run: Run | undefined;

  constructor(context: PoolContext, events: PoolEvents) {
    this.context = context;
    this.events = events;
    for (const { session, opener, process } of findOrphans(context))
      this.insert({ ...opener, state: '' }, '', process, { kind: 'orphaned', session });
  }

  /** The run as it is on disk; undefined until it has been saved. */
  get savedRun(): Run | undefined {
    return this.run;
  }

  /** The number of processes that wait for their first prompt. */
  get earlyCount(): number {
    return this.count(({ kind }) => kind === 'waiting');
  }

  /**
   * True if so many more may be started early: one more process than turns may run at once is at work or waits for its first
   * prompt, or else there would be none where one turn runs at a time; and as many as turns are without one.
   */
  hasRoomFor(more: number): boolean {
    const atWork = this.count(
      (each) => each.kind === 'busy' || (each.kind === 'opening' && each.purpose.kind === 'turn'),
    );
    const resting = this.count(({ kind }) => kind === 'idle' || kind === 'waiting');
    const most = Math.max(atWork + this.earlyCount - 1, resting);
    return most + more <= this.limit && this.context.idleLimit?.hasRoomFor(more) !== false;
  }

  /** Reserves a process that was started early for a turn that is about to be put on record; null if none has this key. */
  reserve({ agent, number, state }: TurnRef, key: string): { readonly session: string | null } | null {
    const turn = { agent, number, state };
    const entry = [...this.entries].find((each) => each.key === key && isFreeFor(each.conversation, turn));
    if (entry === undefined) return null;
    this.dispatch(entry, { kind: 'reserved', turn });
    return { session: sessionOf(entry.conversation) };
  }

  /** The process that is reserved for a turn; null if there is none. */
  findReserved(turn: TurnRef): Pooled<C> | null {
    return this.find((each) => reservedFor(each) !== null && isFreeFor(each, turn));
  }

  /** The idle conversation of a session; null if there is none. */
  findIdle(session: string): Pooled<C> | null {
    return this.find((each) => each.kind === 'idle' && each.session === session);
  }

  /** Gives a conversation to a turn. False if it is not free any more. */
  prompt(pooled: Pooled<C>, { agent, number, state }: TurnRef): boolean {
    const turn = { agent, number, state };
    const before = pooled.conversation;
    this.dispatch(pooled, { kind: 'prompted', turn });
    return pooled.conversation !== before;
  }

  /** Adds a conversation that is about to be opened; throws if its folder cannot be made. */
  add(opener: TurnRef & Opener, key: string, session: string | null, purpose: Purpose): Pooled<C> {
    const process = conversationRef(this.context, opener);
    recordConversation(process.dir, opener, session);
    return this.insert(opener, key, process, { kind: 'opening', session, purpose });
  }

  /** Starts the process of a conversation that was added. */
  async connect(
    pooled: Pooled<C>,
    start: (process: ProcessRef, events: ConnectionEvents) => Promise<C | NotStarted>,
  ): Promise<C | NotStarted> {
    const entry = pooled as Entry<C>;
    let connected: C | NotStarted;
    try {
      connected = await start(entry.process, {
        onOpened: (session) => this.openSession(entry, session),
        onAcknowledged: () => this.dispatch(entry, { kind: 'acknowledged' }),
      });
    } catch (error) {
      this.dispatch(entry, { kind: 'failed' });
      throw error;
    }
    if ('obstacle' in connected) {
      this.dispatch(entry, { kind: 'failed' });
      return connected;
    }
    entry.connection = connected;
    this.dispatch(entry, { kind: 'started' });
    const onExit = (): void => {
      // A process that is being closed is reported later, when all that belongs to it has ended.
      if (entry.conversation.kind !== 'closing') this.dispatch(entry, { kind: 'exited' });
    };
    connected.exited.then(onExit, onExit);
    return connected;
  }

  /** Writes a message into the turn of a conversation. False if that is not possible. */
  steer(pooled: Pooled<C>, message: TurnMessage): boolean {
    return this.dispatch(pooled, { kind: 'steer', message });
  }

  /** Tells a conversation to end its turn. False if that is not possible. */
  interrupt(pooled: Pooled<C>): boolean {
    return this.dispatch(pooled, { kind: 'interrupt' });
  }

  /** Keeps a conversation open after its turn, for the next one; or closes it and ends whatever is left of it. */
  async settle(pooled: Pooled<C>, canContinue: boolean): Promise<void> {
    this.dispatch(pooled, { kind: canContinue ? 'kept' : 'discarded' });
    if (pooled.conversation.kind !== 'idle') await (pooled as Entry<C>).work;
  }

  /** Closes a conversation that cannot be used for what it was opened for. */
  async evict(pooled: Pooled<C>): Promise<void> {
    this.dispatch(pooled, { kind: 'evicted' });
    await (pooled as Entry<C>).work;
  }

  /** Waits until no process uses a session: one user at a time, or what one of them says is lost. */
  async free(session: string): Promise<void> {
    await this.waitForEndOf((each) => each.kind !== 'opening' && sessionOf(each) === session);
  }

  /** Waits until a session on disk is as its last process leaves it, so that a fork can read it. */
  async waitForRest(session: string): Promise<void> {
    await this.waitForEndOf(
      (each) => (each.kind === 'closing' || each.kind === 'orphaned') && each.session === session,
    );
  }

  /** Closes the conversations that the run, as it is on disk now, does not need, and removes the files of closed ones. */
  release(run: Run): void {
    this.run = run;
    for (const entry of [...this.entries]) {
      this.reportSaved(entry);
      if (!isNeeded(run, entry.opener, entry.conversation)) this.closeUnwanted(entry);
    }
    this.closeSurplus();
  }

  /** Closes all of them. One that is busy finishes its turn. */
  async close(): Promise<void> {
    for (const entry of [...this.entries])
      if (entry.conversation.kind !== 'orphaned') this.dispatch(entry, { kind: 'evicted' });
    for (;;) {
      const works = [...this.entries].flatMap(({ work }) => (work === null ? [] : [work]));
      if (works.length === 0) return;
      await Promise.all(works);
    }
  }

  private get limit(): number {
    return this.context.options.parallel ?? DEFAULT_LIMIT;
  }

  private count(test: (conversation: Conversation) => boolean): number {
    return [...this.entries].filter(({ conversation }) => test(conversation)).length;
  }

  private find(test: (conversation: Conversation) => boolean): Entry<C> | null {
    return [...this.entries].find(({ conversation }) => test(conversation)) ?? null;
  }

  private insert(opener: TurnRef & Opener, key: string, process: ProcessRef, conversation: Conversation): Entry<C> {
    const close = (): void => this.closeUnwanted(entry);
    const entry: Entry<C> = { opener, key, process, conversation, close, connection: null, timer: null, work: null };
    this.entries.add(entry);
    return entry;
  }

  /** Applies an event and performs its effects. False if one of them was not possible, or if there was none. */
  private dispatch(pooled: Pooled<C>, event: ConversationEvent): boolean {
    const entry = pooled as Entry<C>;
    const before = entry.conversation;
    const { conversation, effects } = transition(before, event);
    entry.conversation = conversation;
    const results = effects.map((effect) => this.perform(entry, effect));
    if (conversation.kind !== before.kind) this.followState(entry, before);
    // One that a turn is about to take is as good as busy.
    if (reservedFor(conversation) !== null) this.context.idleLimit?.remove(entry.close);
    this.reportSaved(entry);
    return results.length > 0 && !results.includes(false);
  }

  private perform(entry: Entry<C>, effect: ConversationEffect): boolean {
    const { connection, process } = entry;
    switch (effect.kind) {
      case 'steer':
        return connection?.steer(effect.message) ?? false;
      case 'interrupt': {
        const isPossible = connection?.interrupt() ?? false;
        if (!isPossible) this.dispatch(entry, { kind: 'not_interruptible' });
        return isPossible;
      }
      case 'hang_up':
        connection?.hangUp();
        break;
      case 'close':
        this.work(entry, endProcess(process, connection, effect.sweep), () => this.dispatch(entry, { kind: 'exited' }));
        break;
      case 'sweep':
        this.work(entry, endTurn(process.dir, process.marker, { graceMs: END_GRACE_MS }));
        break;
      case 'report_unused':
        this.events.onUnused(entry);
        break;
      case 'report_ended':
        this.events.onEnded(effect.lastTurn);
        break;
      case 'remove_files':
        this.work(entry, rm(process.dir, { recursive: true, force: true }), () => this.entries.delete(entry));
    }
    return true;
  }

  /** Does something in the background; a failure there concerns no turn. */
  private work(entry: Entry<C>, action: Promise<unknown>, then: () => unknown = () => {}): void {
    const done = action.then(then, then);
    const work = Promise.all([entry.work, done]).then(() => {
      if (entry.work === work) entry.work = null;
    });
    entry.work = work;
  }

  /** Does what goes with a state that was left, and with the one that was entered. */
  private followState(entry: Entry<C>, before: Conversation): void {
    const { conversation, close } = entry;
    const held = heldSession(before);
    if (held !== null && heldSession(conversation) !== held)
      for (const each of [...this.entries])
        if (sessionOf(each.conversation) === held) this.dispatch(each, { kind: 'let_go' });
    if (isResting(before)) {
      if (entry.timer !== null) clearTimeout(entry.timer);
      this.context.idleLimit?.remove(close);
    }
    if (conversation.kind === 'closed' || conversation.kind === 'removed') entry.connection = null;
    if (!isResting(conversation)) return;
    this.entries.delete(entry);
    this.entries.add(entry);
    entry.timer = setTimeout(close, Math.max(1, Math.min(this.context.options.keepOpenMs ?? 0, MAX_TIMER_MS))).unref();
    if (!this.isDecidedSoon(conversation)) this.closeSurplus();
    // One that was started early may have come too late.
    if (conversation.kind === 'waiting' && this.run !== undefined && !isNeeded(this.run, entry.opener, conversation))
      close();
  }

  /** True if the release after the last turn closes one of two: the conversation itself, or the process that was started early. */
  private isDecidedSoon(conversation: Conversation): boolean {
    if (conversation.kind !== 'idle') return false;
    const { lastTurn } = conversation;
    return [...this.entries].some((each) => each.conversation.kind === 'waiting' && isSameTurn(each.opener, lastTurn));
  }

  /** Closes those that are too many, the longest idle first. One that a turn is about to take does not count. */
  private closeSurplus(): void {
    const resting = [...this.entries].filter(
      ({ conversation }) => isResting(conversation) && reservedFor(conversation) === null,
    );
    for (const { close } of resting.slice(0, Math.max(0, resting.length - this.limit))) close();
    for (const { conversation, close } of resting) if (isResting(conversation)) this.context.idleLimit?.add(close);
  }

  private closeUnwanted(entry: Entry<C>): void {
    const session = sessionOf(entry.conversation);
    const isHeld = session !== null && this.find((each) => heldSession(each) === session) !== null;
    this.dispatch(entry, { kind: 'unwanted', isHeld });
  }

  private reportSaved(entry: Entry<C>): void {
    const turn = unsavedTurn(entry.conversation);
    if (turn !== null && this.run !== undefined && !isOnRecord(this.run, turn))
      this.dispatch(entry, { kind: 'saved', turn });
  }

  private openSession(entry: Entry<C>, session: string): void {
    this.dispatch(entry, { kind: 'opened', session });
    try {
      recordConversation(entry.process.dir, entry.opener, session);
    } catch {
      // Only a later Raymond would read it, to wait for the end of the process.
    }
  }

  /** Closes conversations and waits until their processes have ended. */
  private async waitForEndOf(test: (conversation: Conversation) => boolean): Promise<void> {
    for (;;) {
      const found = [...this.entries].filter(({ conversation }) => test(conversation));
      if (found.length === 0) return;
      for (const entry of found) this.dispatch(entry, { kind: 'evicted' });
      await Promise.all(found.map(({ work, connection }) => work ?? connection?.exited.catch(() => {})));
    }
  }
}

/** Ends a process: by itself, because its input has ended, or after a while by force. */
async function endProcess(
  { dir, marker }: ProcessRef,
  connection: Pick<AnyConnection, 'hangUp' | 'exited'> | null,
  sweep: boolean,
): Promise<void> {
  connection?.hangUp();
  const exited = connection?.exited ?? waitForEnd(dir, marker, AbortSignal.timeout(END_GRACE_MS));
  const ending = exited.then(
    () => true,
    () => false,
  );
  const isOver = await Promise.race([ending, delay(END_GRACE_MS, false, { ref: false })]);
  if (!isOver || sweep) await endTurn(dir, marker, { graceMs: END_GRACE_MS });
}

const isResting = ({ kind }: Conversation): boolean => kind === 'idle' || kind === 'waiting';

const reservedFor = (conversation: Conversation): TurnRef | null =>
  conversation.kind === 'waiting' ? conversation.reservedFor : null;

function isFreeFor(conversation: Conversation, turn: TurnRef): boolean {
  const reserved = reservedFor(conversation);
  return conversation.kind === 'waiting' && (reserved === null || isSameTurn(reserved, turn));
}
