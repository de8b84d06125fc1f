import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../../src/core/options.ts';
import { Conversation } from '../../../src/turns/claude/conversation.ts';
import { Conversations } from '../../../src/turns/claude/conversations.ts';
import { IdleLimit } from '../../../src/turns/idle-limit.ts';
import { RunDriver } from '../../core/run-driver.ts';
import { newTurnContext } from '../turn-context.ts';

function setUp(parallel: number, idleLimit = new IdleLimit(100)) {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-conversations-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const context = newTurnContext(folder, { options: { ...DEFAULT_OPTIONS, parallel }, idleLimit });
  const conversations = new Conversations(context);
  let number = 0;
  const open = (isAhead: boolean, key = 'k', capMicros: number | null = null, turn?: number): Conversation => {
    number += 1;
    const terms = { session: `s${number}`, key, capMicros };
    return new Conversation(context, { agent: 'main', number: turn ?? number, state: 'A.md' }, terms, isAhead);
  };
  return { conversations, open };
}

test('beside the turns at work there is room for one process ahead more than turns may run at once', () => {
  const { conversations, open } = setUp(2);
  expect([conversations.hasRoomFor(2), conversations.hasRoomFor(3)]).toStrictEqual([true, false]);
  for (const _ of [1, 2]) conversations.add(open(false));
  expect(conversations.hasRoomFor(1)).toBe(true);
  conversations.keep(open(true));
  expect(conversations.hasRoomFor(1)).toBe(false);
  expect(conversations.aheadCount).toBe(1);
});

/** A run whose first turn is at work in the conversation `s1`, and the conversations of that run. */
function atFirstTurn(parallel: number, idleLimit?: IdleLimit) {
  const { conversations, open } = setUp(parallel, idleLimit);
  const run = new RunDriver({ files: ['A.md', 'B.md'] });
  run.begin('main');
  const first = open(false);
  conversations.add(first);
  conversations.release(run.run);
  return { run, conversations, first, openAhead: () => open(true, 'k', null, 1) };
}

test('where one turn runs at a time, the one ahead and the conversation to return to are both kept', () => {
  for (const limit of [new IdleLimit(100), new IdleLimit(1)]) {
    const { run, conversations, first, openAhead } = atFirstTurn(1, limit);
    expect(conversations.hasRoomFor(1)).toBe(true);
    conversations.keep(openAhead());
    conversations.keep(first);
    run.reply('main', '<function return="A">B</function>');
    expect(conversations.claim('main', 'k')).toBe('s2');
    run.begin('main');
    conversations.release(run.run);
    expect(conversations.take('s2', 'k', null)).not.toBeNull();
    expect(conversations.take('s1', 'k', null)).toBe(first);
  }
});

test('where nobody claims the one ahead, no more are kept than turns may run at once', () => {
  const { run, conversations, first, openAhead } = atFirstTurn(1);
  conversations.keep(openAhead());
  conversations.keep(first);
  run.reply('main', '<function return="A">B</function>');
  conversations.release(run.run);
  expect(conversations.claim('main', 'k')).toBeUndefined();
  expect(conversations.take('s1', 'k', null)).toBe(first);
});

test('one ahead that comes too late for what follows its turn is closed at once', () => {
  const { run, conversations, openAhead } = atFirstTurn(4);
  const unused: string[] = [];
  conversations.onUnused = ({ terms }) => unused.push(terms.session);
  run.reply('main', '<function return="A">B</function>').begin('main');
  conversations.release(run.run);
  conversations.keep(openAhead());
  expect([conversations.aheadCount, unused]).toStrictEqual([0, ['s2']]);
});

test('conversations that wait for their next turn count, too', () => {
  const { conversations, open } = setUp(2);
  conversations.keep(open(false));
  conversations.keep(open(false));
  expect(conversations.hasRoomFor(1)).toBe(false);
});

test('a process that was started ahead is claimed once, by its key, and taken only within its cap', () => {
  const { conversations, open } = setUp(4);
  conversations.keep(open(false, 'k'));
  conversations.keep(open(true, 'other'));
  conversations.keep(open(true, 'k', 1000));
  expect(conversations.claim('main', 'k')).toBe('s3');
  expect(conversations.claim('main', 'k')).toBeUndefined();
  expect(conversations.take('s3', 'k', 2500)).toBeNull();
  expect(conversations.take('s3', 'other', 1000)).toBeNull();
  expect(conversations.take('s3', 'k', 900)?.terms.session).toBe('s3');
  expect(conversations.take('s3', 'k', 900)).toBeNull();
});

test('several runs of a process share a limit: the longest idle of all goes first, and none is started ahead beyond it', () => {
  const shared = new IdleLimit(2);
  const [one, other] = [setUp(4, shared), setUp(4, shared)];
  one.conversations.keep(one.open(false, 'first'));
  other.conversations.keep(other.open(false, 'second'));
  expect([one.conversations.hasRoomFor(0), one.conversations.hasRoomFor(1)]).toStrictEqual([true, false]);
  other.conversations.keep(other.open(false, 'third'));
  expect(one.conversations.take('s1', 'first', null)).toBeNull();
  expect(other.conversations.take('s1', 'second', null)).not.toBeNull();
  expect(one.conversations.hasRoomFor(1)).toBe(true);
});
