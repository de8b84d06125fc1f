import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LiveOutput } from '../../src/fleet/live-output.ts';
import { LiveTurns } from '../../src/fleet/live-turns.ts';
import { insertTurnFiles, TurnFilesCache } from '../../src/fleet/turn-rows.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;
useFleet('each', async (opened) => {
  fleet = opened;
  fleet.write({ 'w/START.sh': 'echo "<result>over</result>"\n' });
  await fleet.run('run', 'w', '--run-id', 'r1', '--detach');
});

const TURN = { agent: 'main', number: 1, state: 'START.sh' };
/** So often a worker has to look to send all that is written at once here. */
const MAX_LOOKS = 24;
const NEVER = new Promise<never>(() => {});

/** A turn whose files are written by hand, on a worker that sends them, and somebody who follows it. */
function setUp() {
  const source = join(fleet.folder, 'turn');
  mkdirSync(source);
  writeFileSync(join(source, 'stdin'), 'asked\n');
  const worker = new LiveOutput(fleet.database, 'one');
  let end = (): void => {};
  const over = new Promise<null>((resolve) => {
    end = () => resolve(null);
  });
  const nothing = async (): Promise<never> => NEVER;
  const world = worker.wrap(
    { prepare: nothing, save: nothing, end: () => {}, notify: () => {}, take: () => over },
    'r1',
    () => source,
    true,
  );
  const turn = { ...TURN, kind: 'script' } as Parameters<typeof world.take>[0];
  const taken = world.take(turn);
  const files = new TurnFilesCache(fleet.database);
  const reader = new LiveTurns(fleet.database, files);
  const say = (text: string): void => appendFileSync(join(source, 'stdout'), text);
  return {
    say,
    files,
    /** Lets the turn end as a worker does. */
    async finish() {
      await insertTurnFiles(fleet.database, 'r1', TURN, source);
      end();
      await taken;
      await reader.complete('r1', TURN);
    },
    async follow(): Promise<() => string> {
      await reader.look('r1');
      const found = reader.folderOf('r1', TURN, NEVER);
      // It is followed from the next look on.
      await expect
        .poll(async () => {
          await worker.look();
          await reader.look('r1');
          return Promise.race([found.then(() => true), new Promise((next) => setTimeout(() => next(false)))]);
        })
        .toBe(true);
      const folder = await found;
      return () => readFileSync(join(folder, 'stdout'), 'utf8');
    },
    /** Lets the worker send all that is new; somebody who `isSlow` looks only at the end. */
    async catchUp(isSlow = false) {
      for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
        await worker.look();
        if (!isSlow || looks === MAX_LOOKS - 1) await reader.look('r1');
      }
    },
  };
}

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `${String(from + index).padStart(99, '0')}\n`).join('');

const countPieces = async (): Promise<number> => (await fleet.database.query('select 1 from raymond.output')).length;

test('what a turn says is put together byte by byte, and completed from its end', async () => {
  const { say, follow, catchUp, finish, files } = setUp();
  say('first\nsec');
  const read = await follow();
  expect(read()).toBe('first\nsec');
  say('ond\n\u00e4');
  await catchUp();
  say('\nlast');
  expect(read()).toBe('first\nsecond\n\u00e4');
  await finish();
  expect(read()).toBe('first\nsecond\n\u00e4\nlast');
  await expect.poll(countPieces).toBe(0);
  files.close();
});

test('of output that is long, those who come late get the end in whole lines, and nothing grows for ever', async () => {
  const { say, follow, catchUp, finish, files } = setUp();
  say(numbered(0, 60_000));
  const read = await follow();
  await catchUp();
  const [first = ''] = read().split('\n');
  expect(Number(first)).toBeGreaterThan(15_000);
  expect(read()).toBe(numbered(Number(first), 60_000));
  say(numbered(60_000, 100_000));
  await catchUp();
  expect(read()).toBe(numbered(Number(first), 100_000));
  const [kept] = await fleet.database.query<{ size: number }>(
    'select sum(length(bytes))::integer as size from raymond.output',
  );
  expect(kept?.size).toBeLessThan(9 << 20);
  say(`${numbered(100_000, 200_000)}half`);
  await catchUp(true);
  const lines = read().split('\n');
  expect([lines.at(-1), Number(lines.at(-2))]).toStrictEqual(['half', 199_999]);
  const numbers = lines.slice(0, -1).map(Number);
  expect(numbers.length).toBeGreaterThan(90_000);
  expect(numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))).toBe(true);
  say(' a line\n');
  await finish();
  expect(read().split('\n').at(-2)).toBe('half a line');
  files.close();
});

test('a file that was emptied begins anew at the end of its turn', async () => {
  const { say, follow, finish, files } = setUp();
  say('much that is gone\n');
  const read = await follow();
  writeFileSync(join(fleet.folder, 'turn', 'stdout'), 'little\n');
  await finish();
  expect(read()).toBe('little\n');
  files.close();
});
