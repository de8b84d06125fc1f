import { expect, test } from 'vitest';
import { Slots } from '../../src/cluster/slots.ts';
import type { PromptTurn } from '../../src/core/turns/due.ts';
import type { World } from '../../src/engine/world.ts';
import { SYSTEM_CLOCK } from '../../src/process/clock.ts';

/** A world whose turns end when they are told to. */
function newWorld(log: string[]): World {
  const ends = new Map<string, () => void>();
  return {
    prepare: async ({ agent }) => ({ kind: 'began', at: 0, agent, sessionId: agent, rules: null, warnings: [] }),
    take: ({ agent }) => {
      log.push(`${agent} begins`);
      return new Promise((end) => {
        ends.set(agent, () => {
          log.push(`${agent} ends`);
          end(null);
        });
      });
    },
    end: (agent) => ends.get(agent)?.(),
    save: async () => {},
    release: () => {},
    deliver: () => {},
    notify: () => {},
  };
}

const claudeTurn = (agent: string): PromptTurn => ({ kind: 'claude', agent, number: 1 }) as PromptTurn;

/** A run whose agent a has the only slot and whose agent b stands in line. */
async function setUp() {
  const log: string[] = [];
  const queued = new Set<string>();
  const [leaving, kill] = [new AbortController(), new AbortController()];
  const world = new Slots(1, leaving.signal, SYSTEM_CLOCK, (run, { agent, number }) => {
    queued.add(`${run}/${agent}/${number}`);
    return () => queued.delete(`${run}/${agent}/${number}`);
  }).wrap(newWorld(log), 'run', kill.signal);
  const takeNew = async (agent: string) => {
    await world.prepare(claudeTurn(agent));
    return { taken: world.take(claudeTurn(agent)) };
  };
  const first = await takeNew('a');
  const second = await takeNew('b');
  return { log, queued, world, leaving, kill, takeNew, first: first.taken, second: second.taken };
}

const STOPPED = { kind: 'failed', agent: 'b', failure: { kind: 'stopped' }, progress: 'none', cost: null };

const interrupt = { kind: 'interrupt', id: 'i', agent: 'b', turn: 1 } as const;

test.each<readonly [string, (rig: Awaited<ReturnType<typeof setUp>>) => void]>([
  ['is not needed any more', ({ world }) => world.end('b')],
  ['is interrupted', ({ world }) => world.deliver([interrupt])],
  ['is to end with all others', ({ kill }) => kill.abort()],
])('a turn that %s while it waits for a slot ends at once, and nothing is started', async (_, act) => {
  const rig = await setUp();
  expect(rig.queued).toStrictEqual(new Set(['run/b/1']));
  act(rig);
  expect(rig.queued).toStrictEqual(new Set());
  expect(await rig.second).toMatchObject(STOPPED);
  rig.world.end('a');
  await rig.first;
  expect(rig.log).toStrictEqual(['a begins', 'a ends']);
});

test('a slot that is given back goes to the first in line, and to nobody else', async () => {
  const { log, world, first, second, takeNew } = await setUp();
  world.end('a');
  const third = await takeNew('c');
  await first;
  expect(log).toStrictEqual(['a begins', 'a ends', 'b begins']);
  world.end('b');
  await second;
  world.end('c');
  await third.taken;
  expect(log.slice(3)).toStrictEqual(['b ends', 'c begins', 'c ends']);
});

test('a turn in line of a worker that leaves is taken again elsewhere', async () => {
  const { leaving, log, world, first, second, takeNew } = await setUp();
  leaving.abort();
  expect(await second).toBeNull();
  world.end('a');
  await first;
  expect(await (await takeNew('c')).taken).toBeNull();
  expect(log).toStrictEqual(['a begins', 'a ends']);
});
