import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Event } from '../../src/core/run/event.ts';
import type { World } from '../../src/engine/world.ts';
import { readScenario } from '../../src/scenario/read-scenario.ts';
import { VirtualTime } from '../../src/testing/virtual-time.ts';
import { ReplayBackend } from '../../src/turns/replay/backend.ts';
import { killable } from '../../src/wiring/world.ts';
import { newTurnContext } from '../turns/turn-context.ts';
import { newClaudeTurn } from '../turns/turns.ts';

const breathe = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) await new Promise(setImmediate);
};

const SCOPE = { files: ['START.md'], platform: 'unix' } as const;

/** A turn that writes one file after the other, in an hour each. */
function newTurn(time: VirtualTime) {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-life-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));
  const answers = 'answers: { START: { text: t, seconds: 10800, write: { a: "1", b: "2" } } }';
  const scenario = readScenario('a.yaml', answers, SCOPE);
  const backend = new ReplayBackend({ ...newTurnContext(cwd, { clock: time }), scenario, fast: false });
  const turn = newClaudeTurn(cwd);
  return {
    take: () => time.whileRunning(() => backend.take(turn, false)),
    has: (file: string) => existsSync(join(cwd, file)),
  };
}

test('a running turn does nothing more after a crash', async () => {
  const time = new VirtualTime();
  const { take, has } = newTurn(time);
  let isOver = false;
  take().then(() => {
    isOver = true;
  });
  while (!has('a')) await new Promise(setImmediate);
  time.stop();
  await breathe();
  expect({ isOver, b: has('b') }).toStrictEqual({ isOver: false, b: false });
});

test('the same turn ends without a crash', async () => {
  const { take, has } = newTurn(new VirtualTime());
  expect(await take()).toMatchObject({ kind: 'answered', text: 't' });
  expect(has('b')).toBe(true);
});

test('a crashed world does nothing more and answers nothing', async () => {
  const gone = new AbortController();
  const done: string[] = [];
  let finish = (): void => {};
  const world: World = {
    prepare: () => Promise.reject(new Error('it was asked')),
    take: () => Promise.reject(new Error('it was asked')),
    save: () => new Promise((saved) => (finish = saved)),
    end: () => {},
    release: () => void done.push('released'),
    deliver: () => void done.push('delivered'),
    notify: (events) => void done.push(...events.map(({ kind }) => kind)),
  };
  const staged = killable(world, gone.signal);
  const said: Event = { kind: 'run_resumed', at: 0, options: {} as never };
  staged.notify([said]);
  staged.save([]).then(() => done.push('saved'));
  gone.abort();
  finish();
  staged.release({} as never, []);
  staged.deliver([]);
  staged.notify([said]);
  staged.prepare({} as never).then(
    () => done.push('prepared'),
    () => done.push('failed'),
  );
  await breathe();
  expect(done).toStrictEqual(['run_resumed']);
});
