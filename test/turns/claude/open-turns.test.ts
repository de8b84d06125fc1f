import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ClaudeTurn } from '../../../src/core/due.ts';
import { OpenTurns } from '../../../src/turns/claude/open-turns.ts';
import { TurnReading } from '../../../src/turns/claude/turn-reading.ts';
import type { TurnContext } from '../../../src/turns/turn-context.ts';
import { newTurnContext } from '../turn-context.ts';

/** A turn that opens a conversation with a program that is never to run. */
function setUp(overrides: Partial<TurnContext>) {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-open-turns-'));
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
  } as unknown as ClaudeTurn;
  const session = { kind: 'new', id: 's1' } as const;
  const supervision = { timeoutMs: null, grace: null };
  const asked = { turn, session, supervision, reading: new TurnReading(context, turn, false), prompt: '', prices: {} };
  const command = { key: 'k', file: '/bin/false', args: [], cwd: folder, env: {} };
  const openTurns = new OpenTurns(
    context,
    folder,
    () => Promise.reject(new Error('nothing is started ahead')),
    async () => {},
  );
  return { folder, openTurns, asked, take: () => openTurns.take(asked, command) };
}

test('whoever may not start a process any more hears that; the turn is not begun', async () => {
  const { openTurns, asked, take } = setUp({ beforeStart: () => Promise.reject(new Error('not heard of')) });
  await expect(take()).rejects.toThrow('not heard of');
  const claim = openTurns.findClaim(asked.turn);
  if (claim === null) throw new Error('the turn has no claim');
  expect(await openTurns.adopt(asked, claim)).toMatchObject({ end: { kind: 'never_started' } });
});

test('a conversation without a folder is not begun, and says why', async () => {
  const { folder, take } = setUp({});
  writeFileSync(join(folder, 'conversations'), '');
  expect(await take()).toMatchObject({
    end: { kind: 'not_started', message: expect.stringMatching(/^cannot start \/bin\/false: (EEXIST|ENOTDIR)/) },
  });
});
