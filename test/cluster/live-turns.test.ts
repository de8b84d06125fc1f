import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { LiveOutput } from '../../src/storage/postgres/live-output.ts';
import { createDatabaseOutput } from '../../src/storage/postgres/output.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;
useFleet('each', async (opened) => {
  fleet = opened;
  fleet.write({ 'w/START.sh': 'echo "<result>over</result>"\n' });
  await fleet.run('run', 'w', '--run-id', 'r1', '--detach');
});

const TURN = { agent: 'main', number: 1, state: 'START.sh' };

/** A turn whose files are written by hand, on a worker that sends them, and somebody who follows it. */
function setUp() {
  const source = join(fleet.folder, 'turn');
  mkdirSync(source);
  writeFileSync(join(source, 'stdin'), 'asked\n');
  const worker = new LiveOutput(fleet.database, 'one', () => {});
  const finish = worker.publish('r1', TURN, source);
  const output = createDatabaseOutput(fleet.database);
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  let said = '';
  let upTo = 0;
  let reading: Promise<void> = Promise.resolve();
  const read = async (): Promise<void> => {
    for await (const { offset, bytes } of output.read('r1', TURN, 'stdout', over)) {
      // What comes after a gap begins a line; a stream that was emptied begins anew.
      if (offset < upTo) said = '';
      if (offset > upTo && said !== '' && !said.endsWith('\n')) said += '\n';
      said += bytes.toString('latin1');
      upTo = offset + bytes.length;
    }
  };
  const say = (text: string): void => appendFileSync(join(source, 'stdout'), text);
  return {
    say,
    /** Lets the turn end as a worker does. */
    async finish() {
      await finish(true);
      end();
      await reading;
    },
    /** What was said, as somebody who follows the turn has put it together. */
    said: () => Buffer.from(said, 'latin1').toString('utf8'),
    poll: () => worker.poll(),
    follow() {
      reading = read();
    },
    /** Lets the worker send all that is new, until somebody who follows has this. */
    async catchUp(hasCome: (text: string) => boolean) {
      await vi.waitFor(
        async () => {
          await worker.poll();
          expect(hasCome(Buffer.from(said, 'latin1').toString('utf8'))).toBe(true);
        },
        { timeout: 30_000, interval: 20 },
      );
    },
  };
}

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `${String(from + index).padStart(99, '0')}\n`).join('');

const countPieces = async (): Promise<number> => (await fleet.database.query('select 1 from raymond.output')).length;

test('what a turn says is put together byte by byte, and completed from its end', async () => {
  const { say, follow, said, catchUp, finish } = setUp();
  say('first\nsec');
  follow();
  await catchUp((text) => text === 'first\nsec');
  say('ond\n\u00e4');
  await catchUp((text) => text === 'first\nsecond\n\u00e4');
  say('\nlast');
  await finish();
  expect(said()).toBe('first\nsecond\n\u00e4\nlast');
  await expect.poll(countPieces).toBe(0);
});

test('of output that is long, those who come late get the end in whole lines, and nothing grows without end', async () => {
  const { say, follow, said, catchUp, finish } = setUp();
  say(numbered(0, 60_000));
  follow();
  await catchUp((text) => text.endsWith(numbered(59_999, 60_000)));
  const [first = ''] = said().split('\n');
  expect(Number(first)).toBeGreaterThan(15_000);
  expect(said()).toBe(numbered(Number(first), 60_000));
  say(numbered(60_000, 100_000));
  await catchUp((text) => text.endsWith(numbered(99_999, 100_000)));
  expect(said()).toBe(numbered(Number(first), 100_000));
  const [kept] = await fleet.database.query<{ size: number }>(
    'select sum(length(bytes))::integer as size from raymond.output',
  );
  expect(kept?.size).toBeLessThan(9 << 20);
  say('half a line\n');
  await finish();
  expect(said().split('\n').at(-2)).toBe('half a line');
});

test('a file that was emptied begins anew at the end of its turn', async () => {
  const { say, follow, said, catchUp, finish } = setUp();
  say('much that is gone\n');
  follow();
  await catchUp((text) => text !== '');
  writeFileSync(join(fleet.folder, 'turn', 'stdout'), 'little\n');
  await finish();
  expect(said()).toBe('little\n');
});

test('somebody who looks once gets what a running turn has said, if its node sends it soon', async () => {
  const { say, poll } = setUp();
  say('so far\n');
  const output = createDatabaseOutput(fleet.database);
  let text: string | undefined;
  const read = async (turn: typeof TURN): Promise<string> => {
    let found = '';
    for await (const { bytes } of output.read('r1', turn, 'stdout')) found += bytes.toString('utf8');
    return found;
  };
  const reading = read(TURN).then((found) => {
    text = found;
  });
  await vi.waitFor(async () => {
    await poll();
    expect(text).toBe('so far\n');
  });
  await reading;
  expect(await output.sizes('r1', TURN)).toMatchObject({ stdin: 6, stdout: 7 });
  // One wait for all turns of a run.
  expect(await read({ ...TURN, number: 9 })).toBe('');
  expect(await output.sizes('r1', { ...TURN, number: 9 })).toStrictEqual({});
});
