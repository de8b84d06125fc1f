import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Conversation,
  type ConversationEvent,
  isSameTurn,
  type Purpose,
  transition,
} from '../../src/conversations/conversation.ts';
import type { TurnRef } from '../../src/core/turns/due.ts';

const [ONE, TWO, THREE] = [1, 2, 3].map((number) => ({ agent: 'main', number, state: 'A.md' })) as [
  TurnRef,
  TurnRef,
  TurnRef,
];

const forTurn = (turn: TurnRef, from: string | null = null): Purpose => ({ kind: 'turn', turn, from });
const EARLY: Purpose = { kind: 'early', snapshot: 'as it was' };

/** One conversation in each state, or several where the data of the state matters. */
const STATES: readonly Conversation[] = [
  { kind: 'opening', session: 's', purpose: forTurn(ONE) },
  { kind: 'opening', session: null, purpose: EARLY },
  { kind: 'waiting', session: 's', snapshot: 'as it was', reservedFor: null },
  { kind: 'waiting', session: null, snapshot: 'as it was', reservedFor: TWO },
  { kind: 'busy', session: 's', turn: ONE, from: null, interruption: 'none' },
  { kind: 'busy', session: null, turn: ONE, from: 'other', interruption: 'sent' },
  { kind: 'busy', session: 's', turn: ONE, from: null, interruption: 'acknowledged' },
  { kind: 'idle', session: 's', lastTurn: ONE, isSaved: false, isUnwanted: false },
  { kind: 'idle', session: 's', lastTurn: ONE, isSaved: true, isUnwanted: true },
  { kind: 'closing', session: 's', unsaved: ONE },
  { kind: 'closing', session: null, unsaved: null },
  { kind: 'closed', unsaved: ONE },
  { kind: 'closed', unsaved: 'unknown' },
  { kind: 'removed' },
  { kind: 'orphaned', session: 's' },
];

const EVENTS: { readonly [Kind in ConversationEvent['kind']]: readonly Extract<ConversationEvent, { kind: Kind }>[] } =
  {
    started: [{ kind: 'started' }],
    failed: [{ kind: 'failed' }],
    opened: [{ kind: 'opened', session: 'chosen' }],
    reserved: [ONE, TWO, THREE].map((turn) => ({ kind: 'reserved', turn })),
    prompted: [ONE, TWO, THREE].map((turn) => ({ kind: 'prompted', turn })),
    steer: [{ kind: 'steer', message: { id: 'm', text: 'Hello' } }],
    interrupt: [{ kind: 'interrupt' }],
    not_interruptible: [{ kind: 'not_interruptible' }],
    acknowledged: [{ kind: 'acknowledged' }],
    kept: [{ kind: 'kept' }],
    discarded: [{ kind: 'discarded' }],
    unwanted: [true, false].map((isHeld) => ({ kind: 'unwanted', isHeld })),
    let_go: [{ kind: 'let_go' }],
    evicted: [{ kind: 'evicted' }],
    exited: [{ kind: 'exited' }],
    saved: [ONE, TWO, THREE].map((turn) => ({ kind: 'saved', turn })),
  };

const ALL_EVENTS: readonly ConversationEvent[] = Object.values(EVENTS).flat();

/** The arrows of the diagram. */
const ARROWS: { readonly [Kind in Conversation['kind']]: readonly Conversation['kind'][] } = {
  opening: ['waiting', 'busy', 'closed', 'removed'],
  waiting: ['busy', 'closing', 'removed'],
  busy: ['idle', 'closing', 'closed'],
  idle: ['busy', 'closing', 'closed', 'removed'],
  closing: ['closed', 'removed'],
  closed: ['removed'],
  orphaned: ['closing', 'closed'],
  removed: [],
};

const beginnings = fc.constantFrom<Conversation>(
  { kind: 'opening', session: 's', purpose: forTurn(ONE) },
  { kind: 'opening', session: null, purpose: forTurn(ONE) },
  { kind: 'opening', session: 's', purpose: forTurn(ONE, 'other') },
  { kind: 'opening', session: 's', purpose: EARLY },
  { kind: 'opening', session: null, purpose: EARLY },
  { kind: 'orphaned', session: 's' },
);
const lives = fc.record({
  beginning: beginnings,
  events: fc.array(fc.constantFrom(...ALL_EVENTS), { minLength: 20, maxLength: 60 }),
});

/** Follows a life step by step. */
function* follow({ beginning, events }: { beginning: Conversation; events: readonly ConversationEvent[] }) {
  let before = beginning;
  for (const event of events) {
    const { conversation: after, effects } = transition(before, event);
    yield { before, event, after, effects };
    before = after;
  }
}

describe('a conversation', () => {
  test('has an answer to every event in every state, along the arrows of the diagram', () => {
    for (const state of STATES)
      for (const event of ALL_EVENTS) {
        const { conversation, effects } = transition(state, event);
        if (conversation.kind !== state.kind) expect(ARROWS[state.kind]).toContain(conversation.kind);
        if (state.kind === 'removed')
          expect({ conversation, effects }).toStrictEqual({ conversation: state, effects: [] });
      }
  });

  test('has one user at a time: only one that waits or is idle takes a prompt, and a reserved one only that of its turn', () => {
    fc.assert(
      fc.property(lives, (life) => {
        for (const { before, event, after } of follow(life)) {
          if (event.kind === 'prompted' && after !== before) {
            expect(after).toMatchObject({ kind: 'busy', turn: event.turn, interruption: 'none' });
            expect(['waiting', 'idle']).toContain(before.kind);
            if (before.kind === 'waiting' && before.reservedFor !== null)
              expect(isSameTurn(before.reservedFor, event.turn)).toBe(true);
          }
          if (before.kind === 'busy' && after.kind === 'busy') expect(after.turn).toBe(before.turn);
          if (after.kind === 'idle') expect(after.session).not.toBeNull();
        }
      }),
      { numRuns: 300 },
    );
  });

  test('keeps its files until the end of its last turn is on disk, and removes them once', () => {
    fc.assert(
      fc.property(lives, (life) => {
        let unsaved: TurnRef | null = null;
        let removals = 0;
        for (const { before, event, after, effects } of follow(life)) {
          if (event.kind === 'saved' && before.kind !== 'busy' && unsaved !== null && isSameTurn(unsaved, event.turn))
            unsaved = null;
          if (after.kind === 'busy') unsaved = after.turn;
          const isRemoved = effects.some(({ kind }) => kind === 'remove_files');
          expect(isRemoved).toBe(after.kind === 'removed' && before.kind !== 'removed');
          if (isRemoved) expect(unsaved).toBeNull();
          removals += isRemoved ? 1 : 0;
        }
        expect(removals).toBeLessThanOrEqual(1);
        if (life.beginning.kind === 'orphaned') expect(removals).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test('closes its process once, and leaves it alone after it has exited', () => {
    fc.assert(
      fc.property(lives, (life) => {
        let closes = 0;
        let hasExited = false;
        for (const { event, effects } of follow(life)) {
          hasExited ||= event.kind === 'exited';
          const touched = effects.filter(({ kind }) => ['close', 'hang_up', 'steer', 'interrupt'].includes(kind));
          if (hasExited) expect(touched).toStrictEqual([]);
          closes += effects.filter(({ kind }) => kind === 'close').length;
        }
        expect(closes).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
  });

  test('ends, whatever has happened to it: an orphan leaves its files, any other none', () => {
    fc.assert(
      fc.property(lives, (life) => {
        const last: readonly ConversationEvent[] = [
          { kind: 'evicted' },
          { kind: 'discarded' },
          { kind: 'exited' },
          ...EVENTS.saved,
        ];
        const steps = [...follow({ ...life, events: [...life.events, ...last] })];
        const end = steps.at(-1)?.after;
        if (life.beginning.kind === 'orphaned') expect(end).toStrictEqual({ kind: 'closed', unsaved: 'unknown' });
        else expect(end).toStrictEqual({ kind: 'removed' });
      }),
      { numRuns: 300 },
    );
  });

  test('that a fork reads is closed as soon as it is let go, unless it got a prompt meanwhile', () => {
    const idle: Conversation = { kind: 'idle', session: 's', lastTurn: ONE, isSaved: true, isUnwanted: false };
    const kinds = (...events: readonly ConversationEvent[]): readonly string[] =>
      [...follow({ beginning: idle, events })].map(({ after }) => after.kind);
    const held: ConversationEvent = { kind: 'unwanted', isHeld: true };
    expect(kinds(held, { kind: 'let_go' })).toStrictEqual(['idle', 'closing']);
    expect(kinds({ kind: 'let_go' })).toStrictEqual(['idle']);
    expect(
      kinds(held, { kind: 'prompted', turn: TWO }, { kind: 'let_go' }, { kind: 'kept' }, { kind: 'let_go' }),
    ).toStrictEqual(['idle', 'busy', 'busy', 'idle', 'idle']);
  });

  test('that was interrupted takes no message, and is not kept before it has acknowledged that', () => {
    const busy: Conversation = { kind: 'busy', session: 's', turn: ONE, from: null, interruption: 'none' };
    const [steer] = EVENTS.steer;
    if (steer === undefined) throw new Error('there is no such event');
    const sent = transition(busy, { kind: 'interrupt' });
    expect(sent.effects).toStrictEqual([{ kind: 'interrupt' }]);
    expect(transition(busy, steer).effects).toStrictEqual([steer]);
    expect(transition(sent.conversation, steer).effects).toStrictEqual([]);
    expect(transition(sent.conversation, { kind: 'kept' }).conversation.kind).toBe('closing');
    const { conversation } = transition(sent.conversation, { kind: 'acknowledged' });
    expect(transition(conversation, { kind: 'kept' }).conversation.kind).toBe('idle');
  });

  test('whose session is not known cannot be found again, so it is closed after its turn', () => {
    const busy: Conversation = { kind: 'busy', session: null, turn: ONE, from: null, interruption: 'none' };
    expect(transition(busy, { kind: 'kept' }).conversation.kind).toBe('closing');
    const { conversation } = transition(busy, { kind: 'opened', session: 'chosen' });
    expect(transition(conversation, { kind: 'kept' }).conversation).toMatchObject({ kind: 'idle', session: 'chosen' });
  });
});
