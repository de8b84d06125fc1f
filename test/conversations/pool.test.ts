import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { IdleLimit } from '../../src/conversations/idle-limit.ts';
import { Pool, type Pooled } from '../../src/conversations/pool.ts';
import { ConversationTurns } from '../../src/conversations/take-turn.ts';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import { due, type PromptTurn } from '../../src/core/turns/due.ts';
import { RunDriver } from '../core/run-driver.ts';
import { newTurnContext } from '../turns/turn-context.ts';
import { MemoryConnection, MemoryProtocol } from './memory-protocol.ts';

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-pool-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

type Kept = Pooled<MemoryConnection>;

function setUp(parallel: number, idleLimit = new IdleLimit(100)) {
  const context = newTurnContext(newFolder(), { options: { ...DEFAULT_OPTIONS, parallel }, idleLimit });
  const unused: string[] = [];
  const pool = new Pool<MemoryConnection>(context, {
    onUnused: ({ opener }) => unused.push(`${opener.number} ${opener.isEarly}`),
    onEnded: () => {},
  });
  let count = 0;
  /** Opens a conversation for a turn, or early during that turn. */
  const open = async (isEarly: boolean, key = 'k', number = count + 1): Promise<Kept> => {
    count += 1;
    const turn = { agent: 'main', number, state: 'A.md' };
    const purpose = isEarly
      ? ({ kind: 'early', snapshot: '' } as const)
      : ({ kind: 'turn', turn, from: null } as const);
    const session = `s${count}`;
    const pooled = pool.add({ ...turn, isEarly }, key, session, purpose);
    await pool.connect(pooled, async (process) => new MemoryConnection(process, session));
    return pooled;
  };
  const keep = async (key = 'k'): Promise<Kept> => {
    const pooled = await open(false, key);
    await pool.settle(pooled, true);
    return pooled;
  };
  return { pool, open, keep, unused };
}

const turn = (number: number) => ({ agent: 'main', number, state: 'B.md' });

test('beside the turns at work there is room for one early process more than turns may run at once', async () => {
  const { pool, open } = setUp(2);
  expect([pool.hasRoomFor(2), pool.hasRoomFor(3)]).toStrictEqual([true, false]);
  for (const _ of [1, 2]) await open(false);
  expect(pool.hasRoomFor(1)).toBe(true);
  await open(true);
  expect(pool.hasRoomFor(1)).toBe(false);
  expect(pool.earlyCount).toBe(1);
});

/** A run whose first turn is at work in the session `s1`, and the pool of that run. */
async function atFirstTurn(parallel: number, idleLimit?: IdleLimit) {
  const { pool, open, unused } = setUp(parallel, idleLimit);
  const run = new RunDriver({ files: ['A.md', 'B.md'] });
  run.begin('main');
  const first = await open(false);
  pool.release(run.run);
  return { run, pool, first, unused, openEarly: () => open(true, 'k', 1) };
}

test('where one turn runs at a time, the early process and the conversation to return to are both kept', async () => {
  for (const limit of [new IdleLimit(100), new IdleLimit(1)]) {
    const { run, pool, first, openEarly } = await atFirstTurn(1, limit);
    expect(pool.hasRoomFor(1)).toBe(true);
    await openEarly();
    await pool.settle(first, true);
    run.reply('main', '<function return="A">B</function>');
    expect(pool.reserve(turn(2), 'k')).toStrictEqual({ session: 's2' });
    run.begin('main');
    pool.release(run.run);
    expect(pool.findReserved(turn(2))).not.toBeNull();
    expect(pool.findIdle('s1')).toBe(first);
  }
});

test('an early process stays reserved while the turn that needs it is not on record', async () => {
  const { run, pool, openEarly } = await atFirstTurn(4);
  await openEarly();
  run.reply('main', '<function return="A">B</function>');
  pool.reserve(turn(2), 'k');
  pool.release(run.run);
  expect(pool.findReserved(turn(2))).not.toBeNull();
});

test('where nobody reserves the early process, no more are kept than turns may run at once', async () => {
  const { run, pool, first, openEarly } = await atFirstTurn(1);
  await openEarly();
  await pool.settle(first, true);
  run.reply('main', '<function return="A">B</function>');
  pool.release(run.run);
  expect(pool.reserve(turn(2), 'k')).toBeNull();
  expect(pool.findIdle('s1')).toBe(first);
});

test('an early process that comes too late for what follows its turn is closed at once', async () => {
  const { run, pool, openEarly, unused } = await atFirstTurn(4);
  run.reply('main', '<function return="A">B</function>').begin('main');
  pool.release(run.run);
  await openEarly();
  expect([pool.earlyCount, unused]).toStrictEqual([0, ['1 true']]);
});

test('conversations that wait for their next turn count, too', async () => {
  const { pool, keep } = setUp(2);
  await keep();
  await keep();
  expect(pool.hasRoomFor(1)).toBe(false);
});

test('an early process is reserved by its key, for one turn', async () => {
  const { pool, open, keep } = setUp(4);
  await keep('k');
  await open(true, 'other');
  const early = await open(true, 'k');
  expect(pool.reserve(turn(9), 'k')).toStrictEqual({ session: 's3' });
  expect(pool.reserve({ ...turn(9), agent: 'other' }, 'k')).toBeNull();
  expect(pool.reserve(turn(9), 'k')).toStrictEqual({ session: 's3' });
  expect(pool.prompt(early, { ...turn(9), agent: 'other' })).toBe(false);
  expect(pool.prompt(early, turn(9))).toBe(true);
  expect(pool.prompt(early, turn(9))).toBe(false);
  expect(pool.findReserved(turn(9))).toBeNull();
});

test('several runs share a limit: the longest idle of all is closed first, and none is started early beyond it', async () => {
  const shared = new IdleLimit(2);
  const [one, other] = [setUp(4, shared), setUp(4, shared)];
  await one.keep();
  const second = await other.keep();
  expect([one.pool.hasRoomFor(0), one.pool.hasRoomFor(1)]).toStrictEqual([true, false]);
  await other.keep();
  expect(one.pool.findIdle('s1')).toBeNull();
  expect(other.pool.findIdle('s1')).toBe(second);
  expect(other.pool.prompt(second, turn(7))).toBe(true);
  expect(one.pool.hasRoomFor(1)).toBe(true);
});

test('a conversation that a fork reads is closed when the first turn of the fork is over', async () => {
  const { pool, open } = setUp(4);
  const original = await open(false);
  await pool.settle(original, true);
  const worker = { agent: 'worker', number: 1, state: 'B.md' };
  const fork = pool.add({ ...worker, isEarly: false }, 'k', 's9', { kind: 'turn', turn: worker, from: 's1' });
  const run = new RunDriver({ files: ['A.md'] }).answer('<result>done</result>');
  pool.release(run.run);
  expect(original.conversation.kind).toBe('idle');
  await pool.connect(fork, async (process) => new MemoryConnection(process, 's9'));
  expect(original.conversation.kind).toBe('idle');
  await pool.settle(fork, true);
  expect(original.conversation.kind).not.toBe('idle');
});

describe('whatever a run does', () => {
  const WORKFLOW = { files: ['A.md', 'B.md'] };
  const answers = fc.constantFrom(
    '<goto>A</goto>',
    '<goto>B</goto>',
    '<reset>B</reset>',
    '<call return="A">B</call>',
    '<function return="A">B</function>',
    '<fork next="A">B</fork>',
    '<result>done</result>',
  );
  const turns = fc.record({
    atOnce: fc.constantFrom(1, 2, 3),
    text: answers,
    key: fc.constantFrom('k', 'k', 'other'),
    end: fc.constantFrom('answers', 'answers', 'answers', 'answers', 'exits'),
    canContinue: fc.constantFrom(true, true, true, true, false),
    diesIdle: fc.constantFrom(false, false, true),
  } as const);

  test.for([false, true])(
    'a session has one process, which is closed once and leaves nothing behind; server-chosen ids: %s',
    async (choosesSession) => {
      const scenario = fc.record({
        parallel: fc.constantFrom(1, 4),
        steps: fc.array(turns, { minLength: 6, maxLength: 16 }),
      });
      await fc.assert(
        fc.asyncProperty(scenario, async ({ parallel, steps }) => {
          const folder = newFolder();
          const context = newTurnContext(folder, {
            options: { ...DEFAULT_OPTIONS, parallel },
            folderOf: ({ agent, number }) => join(folder, 'turns', `${number}-${agent}`),
          });
          const protocol = new MemoryProtocol(choosesSession);
          const conversations = new ConversationTurns(context, protocol, () => {});
          const run = new RunDriver(WORKFLOW);
          const takeTurn = async (agent: string, step: (typeof steps)[number]): Promise<void> => {
            const asked = due(run.run).find(
              (each): each is PromptTurn => each.kind === 'claude' && each.agent === agent,
            );
            const session = asked?.record?.session;
            if (asked === undefined || session == null) throw new Error(`no turn of ${agent} is on record`);
            mkdirSync(context.folderOf(asked), { recursive: true });
            const command = { key: step.key, file: 'none', args: [], cwd: folder, env: {} };
            const taken = await conversations.take({ turn: asked, session, command, end: step.end });
            if (taken.kind !== 'over') throw new Error(`the turn was not taken: ${taken.kind}`);
            const { ref, session: used } = taken.over;
            await taken.settle(step.canContinue && step.end === 'answers');
            // The end of its turn is not on disk.
            expect(existsSync(ref.dir)).toBe(true);
            run.reply(agent, used === session.id ? step.text : { text: step.text, reportedSession: used });
            conversations.pool.release(run.run);
          };
          for (const step of steps) {
            const ready = due(run.run).flatMap((each) => (each.kind === 'claude' ? [each.agent] : []));
            const agents = ready.slice(0, step.atOnce);
            for (const agent of agents) run.begin(agent);
            conversations.pool.release(run.run);
            await Promise.all(agents.map((agent) => takeTurn(agent, step)));
            if (step.diesIdle) protocol.connections.findLast(({ hasExited }) => !hasExited)?.exit();
          }
          await conversations.close();
          const { connections } = protocol;
          expect(connections.filter(({ hasExited }) => !hasExited)).toStrictEqual([]);
          expect(connections.filter(({ hangUps }) => hangUps > 1)).toStrictEqual([]);
          const left = existsSync(context.conversationsFolder) ? readdirSync(context.conversationsFolder) : [];
          expect(left).toStrictEqual([]);
        }),
        { numRuns: 8 },
      );
    },
  );
});
