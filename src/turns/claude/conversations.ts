import { rm } from 'node:fs/promises';
import { type Agent, recordedTurn } from '../../core/agent.ts';
import { indexOfAgent } from '../../core/agent-index.ts';
import type { Run } from '../../core/run.ts';
import { usesConversation } from '../../core/used-conversations.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { waitForEnd } from '../../process/find.ts';
import type { ProcessPlace } from '../process-turn.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Conversation } from './conversation.ts';
import { findLeftBehind } from './left-conversations.ts';

/** How many are kept if the run has no limit of Claude turns at once. */
const DEFAULT_LIMIT = 8;

interface Idle {
  readonly conversation: Conversation;
  readonly timer: NodeJS.Timeout;
  /** Closes it, unless somebody needs it as it is. */
  readonly close: () => void;
  /** The agent whose turn is about to be the first in it, if it was started ahead. */
  claimedBy: string | null;
}

/** The conversations of a run that stay open between their turns. */
export class Conversations {
  private readonly context: TurnContext;
  /** By their ids, the longest idle first. */
  private readonly idle = new Map<string, Idle>();
  private readonly busy = new Set<Conversation>();
  private readonly closing = new Map<string, Promise<void>>();
  /** Closed ones whose folders are still there. */
  private readonly closed = new Set<Conversation>();
  /** The removals of folders that are under way. */
  private readonly removing = new Set<Promise<void>>();
  /** How many turns need a conversation as it is, by its id. */
  private readonly held = new Map<string, number>();
  /** Processes of earlier Raymonds that may not have ended yet, by their conversations. */
  private readonly leftBehind: Map<string, readonly ProcessPlace[]>;
  private run: Run | undefined;
  /** Called with each process that was started ahead and is closed without a prompt. */
  onUnused: (conversation: Conversation) => void = () => {};

  constructor(context: TurnContext) {
    this.context = context;
    this.leftBehind = findLeftBehind(context);
  }

  /** Takes an idle conversation for a turn that needs this key and may cost so much; null if there is none that fits. */
  take(session: string, key: string, capMicros: number | null): Conversation | null {
    const { conversation } = this.idle.get(session) ?? {};
    if (conversation === undefined || conversation.flaw !== null || conversation.terms.key !== key) return null;
    if (!fitsCap(conversation.restMicros, capMicros)) return null;
    this.forgetIdle(conversation);
    this.busy.add(conversation);
    return conversation;
  }

  /** Finds a process that was started ahead and fits this key, for the turn of an agent that is about to be put on record. */
  claim(agent: string, key: string): string | undefined {
    for (const idle of this.idle.values()) {
      const { isUsed, flaw, terms } = idle.conversation;
      if (isUsed || idle.claimedBy !== null || flaw !== null || terms.key !== key) continue;
      idle.claimedBy = agent;
      // As good as at work.
      this.context.idleLimit?.remove(idle.close);
      return terms.session;
    }
    return undefined;
  }

  /** How many have been started ahead and wait for their first prompt. */
  get aheadCount(): number {
    return [...this.idle.values()].filter(({ conversation }) => !conversation.isUsed).length;
  }

  /**
   * Whether so many more may be started ahead: one more process than turns may run at once is at work or waits for its first
   * prompt, or else there would be none where one turn runs at a time; and as many as turns are without one.
   */
  hasRoomFor(more: number): boolean {
    const { idleLimit } = this.context;
    const most = Math.max(this.busy.size + this.aheadCount - 1, this.idle.size);
    return most + more <= this.limit && idleLimit?.hasRoomFor(more) !== false;
  }

  /** The run as it is on disk; undefined until it has been saved. */
  get savedRun(): Run | undefined {
    return this.run;
  }

  /** Adds a conversation that is about to be opened for a turn. */
  add(conversation: Conversation): void {
    this.busy.add(conversation);
  }

  /** Waits until no other process uses a conversation: one user at a time, or what one of them says is lost. */
  async makeFree(session: string): Promise<void> {
    const { conversation } = this.idle.get(session) ?? {};
    if (conversation !== undefined) this.close(conversation);
    await this.closing.get(session);
    await this.endLeftBehind(session);
  }

  /** Keeps a conversation as it is until the returned function is called; also waits for a process that was left behind. */
  async hold(session: string): Promise<() => void> {
    await this.closing.get(session);
    await this.endLeftBehind(session);
    this.held.set(session, (this.held.get(session) ?? 0) + 1);
    return () => {
      const left = (this.held.get(session) ?? 1) - 1;
      if (left > 0) this.held.set(session, left);
      else this.held.delete(session);
    };
  }

  /** Keeps a conversation open after its turn, for the next one. */
  keep(conversation: Conversation): void {
    this.busy.delete(conversation);
    const { session } = conversation.terms;
    const idleMs = this.context.options.keepOpenMs ?? 0;
    const close = (): void => this.closeUnlessHeld(conversation);
    const timer = setInterval(close, Math.max(1, Math.min(idleMs, MAX_TIMER_MS)));
    timer.unref();
    this.idle.set(session, { conversation, timer, close, claimedBy: null });
    conversation.onIdleEnd = () => {
      this.forgetIdle(conversation);
      this.closed.add(conversation);
      // Nobody expects one that was started ahead.
      if (conversation.isUsed) this.warnOfEnd(conversation);
    };
    // What comes after its turn decides which of both is needed; the release that follows closes the other one.
    const isDecidedSoon = [...this.idle.values()].some(({ conversation: { isUsed, opener } }) => {
      const { agent, number } = conversation.lastTurn;
      return conversation.isUsed && !isUsed && opener.agent === agent && opener.number === number;
    });
    if (!isDecidedSoon) this.closeSurplus();
    // It may have come too late for what it was started for.
    if (!conversation.isUsed && this.run !== undefined && !isAwaited(this.run, { conversation, claimedBy: null }))
      this.closeUnlessHeld(conversation);
  }

  /** Says that a process has ended which was to stay open: by itself, or because it did not take up what was said. */
  warnOfEnd({ lastTurn }: Conversation, isStalled = false): void {
    this.context.warn(lastTurn, isStalled ? STALLED : ENDED_BY_ITSELF);
  }

  /** Closes a conversation after a turn that failed, and ends what is left of its processes. */
  async discard(conversation: Conversation): Promise<void> {
    const { dir, marker } = conversation.place;
    this.close(conversation, () => endTurn(dir, marker, { graceMs: END_GRACE_MS }));
    await this.closing.get(conversation.terms.session);
  }

  /** Closes the conversations that the run, as it is on disk now, does not need any more, and removes their folders. */
  release(run: Run): void {
    this.run = run;
    for (const idle of this.idle.values()) {
      if (!(idle.conversation.isUsed ? this.isNeeded(idle.conversation) : isAwaited(run, idle)))
        this.closeUnlessHeld(idle.conversation);
    }
    this.closeSurplus();
    this.removeFolders();
  }

  /** Closes all of them. One that is at a turn finishes it. */
  async closeAll(): Promise<void> {
    for (const conversation of this.busy) conversation.hangUp();
    for (const { conversation } of this.idle.values()) this.close(conversation);
    await Promise.all(this.closing.values());
    this.removeFolders();
    await Promise.all(this.removing);
  }

  private get limit(): number {
    return this.context.options.parallel ?? DEFAULT_LIMIT;
  }

  /** Closes those that are too many, the longest idle first. One that a turn is about to take does not count. */
  private closeSurplus(): void {
    const waiting = [...this.idle.values()].filter(({ claimedBy }) => claimedBy === null);
    for (const { close } of waiting.slice(0, Math.max(0, waiting.length - this.limit))) close();
    for (const { conversation, close } of waiting)
      if (this.idle.has(conversation.terms.session)) this.context.idleLimit?.add(close);
  }

  private isNeeded(conversation: Conversation): boolean {
    const agent = this.run && findAgent(this.run, conversation.lastTurn.agent);
    return (
      this.isOnRecord(conversation) || (agent !== undefined && usesConversation(agent, conversation.terms.session))
    );
  }

  private closeUnlessHeld(conversation: Conversation): void {
    if (!this.held.has(conversation.terms.session)) this.close(conversation);
  }

  /** Its folder is removed once its process has ended, and what is to come before that. */
  private close(conversation: Conversation, beforeRemoval: () => Promise<unknown> = async () => {}): void {
    const { session } = conversation.terms;
    if (!conversation.isUsed) this.onUnused(conversation);
    this.forgetIdle(conversation);
    this.busy.delete(conversation);
    const before = this.closing.get(session);
    const closed = Promise.all([
      before,
      conversation
        .close()
        .then(beforeRemoval)
        .catch(() => {}),
    ]).then(() => {
      this.closed.add(conversation);
      if (this.closing.get(session) === closed) this.closing.delete(session);
      this.removeFolders();
    });
    this.closing.set(session, closed);
  }

  private forgetIdle(conversation: Conversation): void {
    const { session } = conversation.terms;
    const found = this.idle.get(session);
    if (found?.conversation !== conversation) return;
    clearInterval(found.timer);
    this.context.idleLimit?.remove(found.close);
    this.idle.delete(session);
    conversation.onIdleEnd = () => {};
  }

  /** What it said in its last turn is needed until the end of that turn is on disk. */
  private isOnRecord({ lastTurn, isUsed }: Conversation): boolean {
    const agent = this.run && findAgent(this.run, lastTurn.agent);
    return isUsed && agent !== undefined && recordedTurn(agent.phase)?.number === lastTurn.number;
  }

  private removeFolders(): void {
    for (const conversation of this.closed) {
      if (this.run === undefined || this.isOnRecord(conversation)) continue;
      this.closed.delete(conversation);
      const removed = rm(conversation.place.dir, { recursive: true, force: true }).catch(() => {});
      this.removing.add(removed);
      removed.then(() => this.removing.delete(removed));
    }
  }

  /** A process of an earlier Raymond ends by itself as soon as it sees the end of its input. */
  private async endLeftBehind(session: string): Promise<void> {
    const places = this.leftBehind.get(session) ?? [];
    this.leftBehind.delete(session);
    for (const { dir, marker } of places) {
      await waitForEnd(dir, marker, AbortSignal.timeout(END_GRACE_MS)).catch(() =>
        endTurn(dir, marker, { graceMs: END_GRACE_MS }),
      );
    }
  }
}

const findAgent = ({ agents }: Run, id: string): Agent | undefined => agents[indexOfAgent(agents, id)];

/** Whether a process that was started ahead may still get a prompt: the turn before is under way, or the next one on record. */
function isAwaited(run: Run, { conversation, claimedBy }: Pick<Idle, 'conversation' | 'claimedBy'>): boolean {
  if (run.stop !== null) return false;
  const { opener, terms } = conversation;
  const agent = findAgent(run, claimedBy ?? opener.agent);
  if (agent === undefined) return false;
  const record = recordedTurn(agent.phase);
  if (claimedBy !== null) return record?.session?.id === terms.session;
  return agent.turns === opener.number && (record !== null || agent.phase.kind === 'ready');
}

const STALLED =
  'Claude Code did not take up what was said to it after its answer, so it was ended; the next prompt starts it again';
const ENDED_BY_ITSELF =
  'the conversation was open for the next prompt, but its process has ended; that prompt starts Claude Code again';

/** The longest time that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Whether what is left of a conversation's cap suits a turn that may cost so much: not so little that it would be cut short, and
 * not so much that the turn could cost twice as much while nobody watches it.
 */
function fitsCap(restMicros: number | null, capMicros: number | null): boolean {
  if (restMicros === null || capMicros === null) return restMicros === capMicros;
  return restMicros >= capMicros / 2 && restMicros <= capMicros * 2;
}
