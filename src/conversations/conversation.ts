import type { TurnRef } from '../core/turns/due.ts';

/*
 * A conversation is one process of a backend that takes one prompt after the other, all in one session.
 *
 *             early             prompt           kept
 *  opening ───────────▶ waiting ──────▶ busy ◀─────────▶ idle
 *   │  └──────────── for a turn ─────────▲ │    prompt     │
 *   │                      │ unwanted      │ discarded     │ unwanted
 *   │ failed               └────────────▶ closing ◀────────┘
 *   ▼               exited                 │
 *  closed ◀────────────────────────────────┘   exited: from any state; orphaned: left by an earlier process
 *   │
 *   │ saved: its last turn is on disk
 *   ▼
 *  removed
 *
 * 1. A session has one user: only `waiting` and `idle` take a prompt, and a conversation whose session is unknown never rests.
 * 2. The files of a conversation stay until the end of its last turn is on disk.
 * 3. A process is closed once, and not after it has exited.
 *
 * An event that a state does not name changes nothing.
 */

/** The life of a conversation; `session` is null until a backend that chooses it has said which it is. */
export type Conversation = Opening | Waiting | Busy | Idle | Closing | Closed | Removed | Orphaned;

interface Opening {
  readonly kind: 'opening';
  readonly session: string | null;
  readonly purpose: Purpose;
}

/** The reason for which a process is started: a turn, perhaps one that branches off `from`, or one that is certain to come. */
export type Purpose =
  | { readonly kind: 'turn'; readonly turn: TurnRef; readonly from: string | null }
  | { readonly kind: 'early'; readonly snapshot: string };

interface Waiting {
  readonly kind: 'waiting';
  readonly session: string | null;
  /** Changes with everything that the process has read at its start. */
  readonly snapshot: string;
  readonly reservedFor: TurnRef | null;
}

interface Busy {
  readonly kind: 'busy';
  readonly session: string | null;
  readonly turn: TurnRef;
  /** The session that its first turn branches off; null afterwards, and for others. */
  readonly from: string | null;
  /** A process that has not acknowledged an interruption may still end a turn because of it. */
  readonly interruption: 'none' | 'sent' | 'acknowledged';
}

interface Idle {
  readonly kind: 'idle';
  readonly session: string;
  readonly lastTurn: TurnRef;
  readonly isSaved: boolean;
  /** It is closed as soon as no fork reads it. */
  readonly isUnwanted: boolean;
}

interface Closing {
  readonly kind: 'closing';
  readonly session: string | null;
  readonly unsaved: Unsaved;
}

interface Closed {
  readonly kind: 'closed';
  readonly unsaved: Unsaved;
}

interface Removed {
  readonly kind: 'removed';
}

interface Orphaned {
  readonly kind: 'orphaned';
  readonly session: string;
}

/** The turn whose end must be on disk before the files are removed. Nobody knows that of an orphan, so its files stay. */
type Unsaved = TurnRef | 'unknown' | null;

/** A message of a person to a running turn. */
export interface TurnMessage {
  readonly id: string;
  readonly text: string;
}

/** Everything that can happen to a conversation. */
export type ConversationEvent =
  | { readonly kind: 'started' }
  | { readonly kind: 'failed' }
  /** The backend has said which session it is. */
  | { readonly kind: 'opened'; readonly session: string }
  | { readonly kind: 'reserved'; readonly turn: TurnRef }
  | { readonly kind: 'prompted'; readonly turn: TurnRef }
  | { readonly kind: 'steer'; readonly message: TurnMessage }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'not_interruptible' }
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'kept' }
  | { readonly kind: 'discarded' }
  /** It has been idle for too long, there are too many, or the run does not need it. A fork that reads it goes first. */
  | { readonly kind: 'unwanted'; readonly isHeld: boolean }
  /** No fork reads it any more. */
  | { readonly kind: 'let_go' }
  /** Another process needs its session, or the run is over. */
  | { readonly kind: 'evicted' }
  | { readonly kind: 'exited' }
  /** The end of this turn is on disk. */
  | { readonly kind: 'saved'; readonly turn: TurnRef };

/** Things to be done after an event. */
export type ConversationEffect =
  | { readonly kind: 'steer'; readonly message: TurnMessage }
  | { readonly kind: 'interrupt' }
  /** Lets the process finish its turn; nobody waits for it. */
  | { readonly kind: 'hang_up' }
  /** Ends the process, then reports `exited`; with `sweep`, whatever it has started is ended first. */
  | { readonly kind: 'close'; readonly sweep: boolean }
  /** Ends what is left of a process that has exited. */
  | { readonly kind: 'sweep' }
  | { readonly kind: 'report_unused' }
  | { readonly kind: 'report_ended'; readonly lastTurn: TurnRef }
  | { readonly kind: 'remove_files' };

interface Moved {
  readonly conversation: Conversation;
  readonly effects: readonly ConversationEffect[];
}

/** Computes what an event makes of a conversation. */
export function transition(conversation: Conversation, event: ConversationEvent): Moved {
  switch (conversation.kind) {
    case 'opening':
      return fromOpening(conversation, event);
    case 'waiting':
      return fromWaiting(conversation, event);
    case 'busy':
      return fromBusy(conversation, event);
    case 'idle':
      return fromIdle(conversation, event);
    case 'closing':
      return fromClosing(conversation, event);
    case 'closed':
      return fromClosed(conversation, event);
    case 'orphaned':
      return fromOrphaned(conversation, event);
    case 'removed':
      return to(conversation);
  }
}

/** The session that a conversation uses, so that nobody else may; null if it uses none, or it is not known. */
export const sessionOf = (conversation: Conversation): string | null =>
  'session' in conversation ? conversation.session : null;

/** The session that a conversation reads to branch off it; null if it reads none. */
export function heldSession(conversation: Conversation): string | null {
  if (conversation.kind === 'busy') return conversation.from;
  if (conversation.kind !== 'opening' || conversation.purpose.kind === 'early') return null;
  return conversation.purpose.from;
}

/** The last turn of a conversation that has finished it, as long as its end may not be on disk; null if there is none. */
export function unsavedTurn(conversation: Conversation): TurnRef | null {
  if (conversation.kind === 'idle') return conversation.isSaved ? null : conversation.lastTurn;
  if (conversation.kind !== 'closing' && conversation.kind !== 'closed') return null;
  return conversation.unsaved === 'unknown' ? null : conversation.unsaved;
}

/** True if two references name the same turn. */
export const isSameTurn = (one: TurnRef, other: TurnRef): boolean =>
  one.agent === other.agent && one.number === other.number;

function fromOpening(opening: Opening, event: ConversationEvent): Moved {
  const { session, purpose } = opening;
  switch (event.kind) {
    case 'started':
      return purpose.kind === 'early'
        ? to({ kind: 'waiting', session, snapshot: purpose.snapshot, reservedFor: null })
        : to({ kind: 'busy', session, turn: purpose.turn, from: purpose.from, interruption: 'none' });
    case 'failed':
    case 'exited':
      return toClosed(purpose.kind === 'early' ? null : purpose.turn);
    case 'opened':
      return to({ ...opening, session: event.session });
    default:
      return to(opening);
  }
}

function fromWaiting(waiting: Waiting, event: ConversationEvent): Moved {
  const { session } = waiting;
  switch (event.kind) {
    case 'opened':
      return to({ ...waiting, session: event.session });
    case 'reserved':
      return isFreeFor(waiting, event.turn) ? to({ ...waiting, reservedFor: event.turn }) : to(waiting);
    case 'prompted':
      if (!isFreeFor(waiting, event.turn)) return to(waiting);
      return to({ kind: 'busy', session, turn: event.turn, from: null, interruption: 'none' });
    case 'unwanted':
    case 'evicted':
      return to({ kind: 'closing', session, unsaved: null }, { kind: 'report_unused' }, CLOSE);
    case 'exited':
      return toClosed(null);
    default:
      return to(waiting);
  }
}

const isFreeFor = ({ reservedFor }: Waiting, turn: TurnRef): boolean =>
  reservedFor === null || isSameTurn(reservedFor, turn);

function fromBusy(busy: Busy, event: ConversationEvent): Moved {
  const { session, turn, interruption } = busy;
  switch (event.kind) {
    case 'opened':
      return to({ ...busy, session: event.session });
    case 'steer':
      // A message after an interruption is for the next prompt.
      return interruption === 'none' ? to(busy, { kind: 'steer', message: event.message }) : to(busy);
    case 'interrupt':
      return interruption === 'none' ? to({ ...busy, interruption: 'sent' }, { kind: 'interrupt' }) : to(busy);
    case 'not_interruptible':
      return to({ ...busy, interruption: 'none' });
    case 'acknowledged':
      return interruption === 'sent' ? to({ ...busy, interruption: 'acknowledged' }) : to(busy);
    case 'kept':
      return session === null || interruption === 'sent'
        ? to({ kind: 'closing', session, unsaved: turn }, CLOSE_AND_SWEEP)
        : to({ kind: 'idle', session, lastTurn: turn, isSaved: false, isUnwanted: false });
    case 'discarded':
      return to({ kind: 'closing', session, unsaved: turn }, CLOSE_AND_SWEEP);
    case 'evicted':
      return to(busy, { kind: 'hang_up' });
    case 'exited':
      return toClosed(turn);
    default:
      return to(busy);
  }
}

function fromIdle(idle: Idle, event: ConversationEvent): Moved {
  const { session, lastTurn, isSaved } = idle;
  const unsaved = isSaved ? null : lastTurn;
  switch (event.kind) {
    case 'prompted':
      return to({ kind: 'busy', session, turn: event.turn, from: null, interruption: 'none' });
    case 'unwanted':
      return event.isHeld ? to({ ...idle, isUnwanted: true }) : to({ kind: 'closing', session, unsaved }, CLOSE);
    case 'let_go':
      return idle.isUnwanted ? to({ kind: 'closing', session, unsaved }, CLOSE) : to(idle);
    case 'evicted':
      return to({ kind: 'closing', session, unsaved }, CLOSE);
    case 'saved':
      return isSameTurn(lastTurn, event.turn) ? to({ ...idle, isSaved: true }) : to(idle);
    case 'exited': {
      const { conversation, effects } = toClosed(unsaved);
      return to(conversation, { kind: 'report_ended', lastTurn }, ...effects);
    }
    default:
      return to(idle);
  }
}

function fromClosing(closing: Closing, event: ConversationEvent): Moved {
  switch (event.kind) {
    case 'saved':
      return to({ ...closing, unsaved: afterSave(closing.unsaved, event.turn) });
    case 'exited':
      return toClosed(closing.unsaved);
    default:
      return to(closing);
  }
}

function fromClosed(closed: Closed, event: ConversationEvent): Moved {
  switch (event.kind) {
    // Its process has exited during the turn.
    case 'kept':
      return typeof closed.unsaved !== 'object' || closed.unsaved === null
        ? to(closed)
        : to(closed, { kind: 'report_ended', lastTurn: closed.unsaved }, { kind: 'sweep' });
    case 'discarded':
      return to(closed, { kind: 'sweep' });
    case 'saved':
      return toClosed(afterSave(closed.unsaved, event.turn));
    default:
      return to(closed);
  }
}

function fromOrphaned(orphaned: Orphaned, event: ConversationEvent): Moved {
  switch (event.kind) {
    case 'evicted':
      return to({ kind: 'closing', session: orphaned.session, unsaved: 'unknown' }, CLOSE);
    case 'exited':
      return toClosed('unknown');
    default:
      return to(orphaned);
  }
}

const afterSave = (unsaved: Unsaved, saved: TurnRef): Unsaved =>
  unsaved === null || unsaved === 'unknown' || !isSameTurn(unsaved, saved) ? unsaved : null;

const CLOSE: ConversationEffect = { kind: 'close', sweep: false };
const CLOSE_AND_SWEEP: ConversationEffect = { kind: 'close', sweep: true };

const to = (conversation: Conversation, ...effects: readonly ConversationEffect[]): Moved => ({
  conversation,
  effects,
});

/** Its process has exited: without a turn to wait for, it is removed at once. */
const toClosed = (unsaved: Unsaved): Moved =>
  unsaved === null ? to({ kind: 'removed' }, { kind: 'remove_files' }) : to({ kind: 'closed', unsaved });
