import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PostgresServer } from '../postgres/server.ts';
import { Fleet, GATE } from './fleet.ts';

test('a worker that stood still past its deadline has lost its name and its runs', async () => {
  const server = await PostgresServer.start();
  const fleet = await Fleet.open(server);
  try {
    await fleet.database.query(`update raymond.about set worker_deadline = '4 seconds'`);
    fleet.write({
      ...GATE,
    });
    const first = await fleet.worker('one');
    const following = fleet.run('run', 'gate', '--run-id', 'gated');
    await expect.poll(() => existsSync(join(fleet.folder, 'trace')), { timeout: 60_000 }).toBe(true);
    first.child.kill('SIGSTOP');
    const status = async (): Promise<string> => (await fleet.run('status', 'gated')).out;
    await expect.poll(status, { timeout: 60_000 }).toContain('It waits for its worker one, which is not running.');
    const second = await fleet.worker('one');
    await second.says('gated is taken up');
    first.child.kill('SIGCONT');
    const zombie = await first.ended;
    writeFileSync(join(fleet.folder, 'open'), '');
    expect(await following).toMatchObject({ code: 0, out: 'through\n' });
    expect(readFileSync(join(fleet.folder, 'trace'), 'utf8')).toBe('start\nafter\n');
    expect(zombie.code).toBe(3);
  } finally {
    await fleet.close();
    await server.stop();
  }
}, 120_000);
