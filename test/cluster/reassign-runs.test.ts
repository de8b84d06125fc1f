import { expect, test } from 'vitest';
import { reassignRuns } from '../../src/cluster/assign-run.ts';
import { QueueClient } from '../../src/cluster/queues.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('all', (opened) => {
  fleet = opened;
});

const addWorker = (name: string, silentS: number, steadyS: number): Promise<unknown> =>
  fleet.database.query(
    `insert into raymond.nodes (name, token, host, pid, identity, slots, steady_since, heartbeat_at)
     values ($1, $1, 'h', 1, '{}', 1, now() - $3 * interval '1 second', now() - $2 * interval '1 second')`,
    [name, silentS, steadyS],
  );

const addRun = (id: string, driver: string | null, begun: number, labels: readonly string[] = []): Promise<unknown> =>
  fleet.database.query(
    `insert into raymond.runs (id, status, seq, driver, begun, labels, mark, snapshot, snapshot_seq, workflow, workflow_path, request, updated_at)
     values ($1, 'running', 0, $2, $3, $4, $1, '{}', 0, 'hash', '', $5, now() - interval '1 minute')`,
    [id, driver, begun, labels, JSON.stringify({ run: id, generation: 1, options: {}, retry: false })],
  );

const sweepAs = async (name: string): ReturnType<typeof reassignRuns> => {
  const queues = await QueueClient.open(fleet.database);
  return reassignRuns(fleet.database, queues, { name, token: name }).finally(() => queues.close());
};

test('runs of a worker that is gone, and those that nobody has placed, get another; others are left alone', async () => {
  await addWorker('judge', 0, 60);
  await addWorker('new', 0, 1);
  await addWorker('gone', 60, 600);
  await addRun('lost', 'gone', 1);
  await addRun('unplaced', null, 0);
  await addRun('placed', 'judge', 0);
  await addRun('driven', 'judge', 1);
  await addRun('labelled', 'gone', 1, ['repo=app']);
  // One that was itself not heard of for long enough judges nobody.
  expect(await sweepAs('new')).toStrictEqual([]);
  expect(await sweepAs('judge')).toMatchObject([{ run: 'lost', from: 'gone' }]);
  const rows = await fleet.database.query(
    `select id, move, epoch, driver is null or driver = 'gone' as waits from raymond.runs order by id`,
  );
  expect(rows).toStrictEqual([
    { id: 'driven', move: 0, epoch: 0, waits: false },
    { id: 'labelled', move: 0, epoch: 0, waits: true },
    { id: 'lost', move: 1, epoch: 1, waits: false },
    { id: 'placed', move: 0, epoch: 0, waits: false },
    { id: 'unplaced', move: 0, epoch: 0, waits: false },
  ]);
  const entries = await fleet.database.query(
    'select workflow_uuid as id from raymond_dbos.workflow_status order by workflow_uuid',
  );
  expect(entries).toStrictEqual([...['lost/drive/1/1', 'placed/drive/1', 'unplaced/drive/1'].map((id) => ({ id }))]);
  expect(await sweepAs('judge')).toStrictEqual([]);
});

test('workers that were silent for 30 days are forgotten with what they were to remove; their runs are given away all the same', async () => {
  const queues = await QueueClient.open(fleet.database);
  for (const [name, days] of [['long', 31] as const, ['not-so-long', 29] as const]) {
    await addWorker(name, days * 86_400, days * 86_400);
    await queues.register(name);
    await fleet.database.query(`insert into raymond.removals (run, mark, worker) values ('r', 'm', $1)`, [name]);
  }
  await queues.close();
  await addRun('of-long', 'long', 1);
  expect(await sweepAs('judge')).toMatchObject([{ run: 'of-long', from: 'long' }]);
  const names = (sql: string): Promise<readonly unknown[]> =>
    fleet.database.query<{ name: string }>(sql).then((rows) => rows.map(({ name }) => name));
  expect(await names('select name from raymond.nodes order by name')).toStrictEqual([
    'gone',
    'judge',
    'new',
    'not-so-long',
  ]);
  expect(await names('select worker as name from raymond.removals')).toStrictEqual(['not-so-long']);
  expect(await names('select name from raymond_dbos.queues order by name')).toStrictEqual([
    'd:not-so-long',
    'drivers',
    'w:not-so-long',
  ]);
});
