import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConversationTurns } from '../../../src/conversations/take-turn.ts';
import type { PromptTurn } from '../../../src/core/turns/due.ts';
import { ClaudeProtocol } from '../../../src/turns/claude/protocol.ts';
import { TurnReading } from '../../../src/turns/claude/turn-reading.ts';
import type { TurnContext } from '../../../src/turns/turn-context.ts';
import { newTurnContext } from '../turn-context.ts';

/** A turn that opens a conversation with a program that is never to run. */
function setUp(overrides: Partial<TurnContext>) {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-claude-conversations-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const context = newTurnContext(folder, overrides);
  const turn = {
    kind: 'claude',
    agent: 'main',
    number: 1,
    state: 'START.md',
    cwd: folder,
    record: null,
    words: [],
    policy: [],
    budgetMicros: null,
  } as unknown as PromptTurn;
  const asked = {
    turn,
    session: { kind: 'new', id: 's1' },
    supervision: { timeoutMs: null, grace: null },
    reading: new TurnReading(context, turn, false),
    prompt: '',
    prices: {},
    command: { key: 'k', file: '/bin/false', args: [], cwd: folder, env: {} },
  } as const;
  const protocol = new ClaudeProtocol(context, folder, () => Promise.reject(new Error('nothing is started early')));
  return { folder, asked, conversations: new ConversationTurns(context, protocol, () => {}) };
}

test('a turn whose process may not be started any more fails, and was not begun', async () => {
  const { conversations, asked } = setUp({ beforeStart: () => Promise.reject(new Error('not heard of')) });
  await expect(conversations.take(asked)).rejects.toThrow('not heard of');
  expect(await conversations.recover(asked)).toMatchObject({ end: { kind: 'never_started' } });
});

test('a conversation without a folder is not begun, and says why', async () => {
  const { folder, conversations, asked } = setUp({});
  writeFileSync(join(folder, 'conversations'), '');
  expect(await conversations.take(asked)).toMatchObject({
    kind: 'not_started',
    message: expect.stringMatching(/^cannot start \/bin\/false: (EEXIST|ENOTDIR)/),
  });
});
