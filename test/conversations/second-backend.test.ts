import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ConversationTurns } from '../../src/conversations/take-turn.ts';
import { due, type PromptTurn } from '../../src/core/turns/due.ts';
import type { Rules } from '../../src/language/policy.ts';
import { RunDriver } from '../core/run-driver.ts';
import { newTurnContext } from '../turns/turn-context.ts';
import { type ThreadAnswer, ThreadProtocol } from './thread-protocol.ts';

/** A run whose prompts a second backend answers: one that chooses the ids of its sessions itself. */
function setUp(rules: Readonly<Record<string, Partial<Rules>>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-second-backend-'));
  const context = newTurnContext(folder, { folderOf: ({ agent, number }) => join(folder, `${number}-${agent}`) });
  const run = new RunDriver({ files: ['A.md', 'B.md'], rules });
  const start = () => {
    const protocol = new ThreadProtocol(folder);
    const conversations = new ConversationTurns(context, protocol, () => {});
    onTestFinished(() => conversations.close());
    return { protocol, conversations };
  };
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { protocol, conversations } = start();
  const turnOf = (agent: string): PromptTurn => {
    const turn = due(run.run).find((each): each is PromptTurn => each.kind === 'claude' && each.agent === agent);
    if (turn === undefined) throw new Error(`no turn of ${agent} is due`);
    return turn;
  };
  const begin = (): PromptTurn => {
    const reserved = conversations.pool.reserve(turnOf('main'), protocol.command.key);
    expect(reserved?.session ?? null).toBeNull();
    run.begin('main');
    conversations.pool.release(run.run);
    return turnOf('main');
  };
  const take = async (turn: PromptTurn, prompt: string, by = conversations): Promise<ThreadAnswer> => {
    const session = turn.record?.session;
    if (session == null) throw new Error('the turn is not on record');
    mkdirSync(context.folderOf(turn), { recursive: true });
    const taken = await by.take({ turn, session, command: protocol.command, prompt });
    if (taken.kind !== 'over') throw new Error(`it was not taken: ${taken.kind}`);
    await taken.settle(true);
    return taken.over;
  };
  const reply = ({ thread }: ThreadAnswer, text: string): void => {
    run.reply('main', { text, reportedSession: thread });
    conversations.pool.release(run.run);
  };
  const answer = async (prompt: string, text: string): Promise<ThreadAnswer> => {
    const over = await take(begin(), prompt);
    reply(over, text);
    return over;
  };
  return { context, run, protocol, conversations, start, begin, take, reply, answer };
}

test('a backend that chooses its sessions keeps one process for the turns of each, and is gone at the end', async () => {
  const { context, conversations, answer } = setUp();
  const first = await answer('hello', '<goto>B</goto>');
  const second = await answer('again', '<reset>A</reset>');
  expect(second).toStrictEqual({ ...first, answer: 'again' });
  const third = await answer('anew', '<result>done</result>');
  expect(third.thread).not.toBe(first.thread);
  await conversations.close();
  expect(readdirSync(context.conversationsFolder)).toStrictEqual([]);
});

test('its turns get messages and interruptions, and the conversation continues afterwards', async () => {
  const { protocol, conversations, begin, take, reply, answer } = setUp();
  const turn = begin();
  conversations.messages.say('main', turn.number, { id: 'nobody', text: 'too early' });
  const over = take(turn, 'wait');
  conversations.messages.say('main', turn.number, { id: 'm1', text: 'Hello' });
  while (!conversations.messages.interrupt('main')) await delay(10);
  expect(conversations.messages.canReach('main')).toBe(false);
  const interrupted = await over;
  expect(interrupted.answer).toBe('interrupted');
  expect(protocol.connections[0]?.heard).toStrictEqual(['m1']);
  reply(interrupted, '<goto>B</goto>');
  expect(await answer('again', '<result>done</result>')).toStrictEqual({ ...interrupted, answer: 'again' });
});

test('its process is started early, before its session has an id', async () => {
  const { protocol, conversations, begin, take, reply, answer } = setUp({
    'A.md': { policy: [{ tag: 'reset', target: 'B.md', attributes: {} }] },
  });
  const turn = begin();
  const over = take(turn, 'wait');
  while (conversations.pool.earlyCount === 0) await delay(10);
  while (!conversations.messages.interrupt('main')) await delay(10);
  const first = await over;
  reply(first, '<reset>B</reset>');
  const next = await answer('next', '<result>done</result>');
  expect(protocol.connections.length).toBe(2);
  expect(next.thread).not.toBe(first.thread);
});

test('a later process finds its turn, and waits for the process that an earlier one has left', async () => {
  const { context, conversations, start, begin, take, reply, answer } = setUp();
  const first = await answer('hello', '<goto>B</goto>');
  const turn = begin();
  const second = await take(turn, 'second');
  const later = start();
  const found = await later.conversations.recover({ turn });
  expect(found).toMatchObject({ thread: first.thread, answer: 'second' });
  reply(second, '<goto>A</goto>');
  const third = take(begin(), 'third', later.conversations);
  expect(later.protocol.connections).toStrictEqual([]);
  await conversations.close();
  expect(await third).toMatchObject({ thread: first.thread, answer: 'third' });
  expect((await third).pid).not.toBe(first.pid);
  expect(existsSync(context.conversationsFolder)).toBe(true);
});
