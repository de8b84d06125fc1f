import { expect, test } from 'vitest';
import type { ClaudeTurn } from '../../src/core/due.ts';
import type { World } from '../../src/engine/world.ts';
import { Slots } from '../../src/fleet/slots.ts';

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

test('a turn that is not needed any more while it waits for a slot ends as soon as it begins', async () => {
  const log: string[] = [];
  const world = new Slots(1, new AbortController().signal).wrap(newWorld(log));
  const [first, second] = ['a', 'b'].map(claudeTurn);
  if (first === undefined || second === undefined) throw new Error('there are two');
  for (const turn of [first, second]) await world.prepare(turn);
  const taken = [world.take(first), world.take(second)];
  world.end('b');
  expect(log).toStrictEqual(['a begins']);
  world.end('a');
  await Promise.all(taken);
  expect(log).toStrictEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});
