import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acquireNodeName } from '../../src/cluster/node-name.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { type Fleet, GATE } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('each', async (opened) => {
  fleet = opened;
  await fleet.database.query(`update raymond.about set worker_deadline = '2 seconds'`);
});

test('a worker that the database has not heard of counts that as a gap, although its own clock stood still', async () => {
  const facts = { name: 'one', slots: 1, labels: [] };
  const name = await acquireNodeName(fleet.database, facts, () => {});
  try {
    expect(name.countMissedHeartbeats()).toBe(0);
    await fleet.database.query(`update raymond.nodes set heartbeat_at = now() - interval '10 minutes'`);
    await expect.poll(name.countMissedHeartbeats, { timeout: 20_000 }).toBe(1);
  } finally {
    await name.release();
  }
});

/** As if the machine of `one` slept: it is not heard of, and does not notice. */
const FALL_ASLEEP = `
  create function raymond.sleep() returns trigger language plpgsql as
  'begin new.heartbeat_at = old.heartbeat_at; new.steady_since = old.steady_since; return new; end';
  create trigger sleep before update on raymond.nodes for each row when (old.name = 'one') execute function raymond.sleep()`;

test('a worker that slept ends what it had begun as soon as it wakes up, if its agents have continued elsewhere', async () => {
  fleet.write(GATE);
  // After its start a worker looks for what is left of an earlier process for ten seconds, and is not to find this then.
  await fleet.database.query(`update raymond.about set worker_deadline = '14 seconds'`);
  const one = await fleet.worker('one');
  const following = fleet.run('run', 'gate', '--run-id', 'gated', '--when-lost', 'rehome');
  await expect.poll(() => existsSync(join(fleet.folder, 'trace')), { timeout: 60_000 }).toBe(true);
  await fleet.worker('two');
  await fleet.database.query(FALL_ASLEEP);
  expect((await following).err).toContain('the worker one is gone, and nobody knows how far the script came');
  const [run] = await fleet.database.query<{ mark: string }>('select mark from raymond.runs');
  const leftovers = (): Promise<readonly unknown[]> => findMarkedProcesses(`gated/${run?.mark}/`);
  expect(await leftovers()).not.toStrictEqual([]);
  await fleet.database.query('drop trigger sleep on raymond.nodes');
  await expect.poll(leftovers, { timeout: 60_000 }).toStrictEqual([]);
  await one.says('gated is driven by another worker now');
}, 120_000);
