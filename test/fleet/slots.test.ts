import { expect, test } from 'vitest';
import type { ClaudeTurn } from '../../src/core/due.ts';
import type { Event } from '../../src/core/event.ts';
import type { World } from '../../src/engine/world.ts';
import { Slots } from '../../src/fleet/slots.ts';
import { SYSTEM_CLOCK } from '../../src/turns/clock.ts';

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
    notify: () => {},
  };
}

const claudeTurn = (agent: string): ClaudeTurn => ({ kind: 'claude', agent }) as ClaudeTurn;

/** A run whose agent a has the only slot and whose agent b stands in line. */
async function setUp() {
  const log: string[] = [];
  const [leaving, kill] = [new AbortController(), new AbortController()];
  const world = new Slots(1, leaving.signal, SYSTEM_CLOCK).wrap(newWorld(log), kill.signal);
  const takeNew = async (agent: string) => {
    await world.prepare(claudeTurn(agent));
    return { taken: world.take(claudeTurn(agent)) };
  };
  const first = await takeNew('a');
  const second = await takeNew('b');
  return { log, world, leaving, kill, takeNew, first: first.taken, second: second.taken };
}

const STOPPED = { kind: 'failed', agent: 'b', failure: { kind: 'stopped' }, progress: 'none', cost: null };

const interrupted: Event = {
  kind: 'turn_interrupted',
  at: 0,
  agent: 'b',
  state: 'B.md',
  turn: 1,
  interrupt: 'i',
  text: null,
  by: 'me',
  saidAt: 0,
  refused: null,
};

test.each<readonly [string, (rig: Awaited<ReturnType<typeof setUp>>) => void]>([
  ['is not needed any more', ({ world }) => world.end('b')],
  ['is interrupted', ({ world }) => world.notify([interrupted])],
  ['is to end with all others', ({ kill }) => kill.abort()],
])('a turn that %s while it waits for a slot ends at once, and nothing is started', async (_, act) => {
  const rig = await setUp();
  act(rig);
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
