import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Fleet, GATE } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('each', (opened) => {
  fleet = opened;
});

test('a worker that stood still past its deadline has lost its name and its runs', async () => {
  await fleet.database.query(`update raymond.about set worker_deadline = '4 seconds'`);
  fleet.write(GATE);
  const first = await fleet.worker('one');
  const following = fleet.run('run', 'gate', '--run-id', 'gated');
  await expect.poll(() => existsSync(join(fleet.folder, 'trace')), { timeout: 60_000 }).toBe(true);
  first.child.kill('SIGSTOP');
  const status = async (): Promise<string> => (await fleet.run('status', 'gated')).out;
  await expect.poll(status, { timeout: 60_000 }).toContain('It waits for its worker one, which is not running.');
  const second = await fleet.worker('one');
  await second.says('driving gated');
  first.child.kill('SIGCONT');
  const zombie = await first.ended;
  writeFileSync(join(fleet.folder, 'open'), '');
  expect(await following).toMatchObject({ code: 0, out: 'through\n' });
  expect(readFileSync(join(fleet.folder, 'trace'), 'utf8')).toBe('start\nafter\n');
  expect(zombie.code).toBe(3);
}, 120_000);
