import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabaseStorage } from '../../src/cluster/database-storage.ts';
import type { PostgresServer } from '../postgres/server.ts';
import { type Fleet, GATE } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let server: PostgresServer;
let fleet: Fleet;

useFleet('each', (opened, started) => {
  fleet = opened;
  server = started;
  fleet.write({
    'hello/START.sh': '#!/bin/bash\necho ran >> trace\necho "<result>hello</result>"\n',
    ...GATE,
    'ask/START.sh': '#!/bin/bash\necho asked >> trace\necho "<ask next=\\"END.sh\\">Which?</ask>"\n',
    'ask/END.sh': '#!/bin/bash\necho "<result>chosen</result>"\n',
  });
});

const tracePath = (): string => join(fleet.folder, 'trace');
const trace = (): string => (existsSync(tracePath()) ? readFileSync(tracePath(), 'utf8') : '');
const openGate = (): void => writeFileSync(join(fleet.folder, 'open'), '');

describe('stop of a run that no worker has', () => {
  test('takes effect at once; nothing is run until it is resumed', async () => {
    const started = fleet.start(['run', 'hello', '--run-id', 'lonely']);
    await started.says('run lonely');
    expect(await fleet.run('stop', 'lonely')).toMatchObject({ code: 0, err: '' });
    expect((await started.ended).code).toBe(3);
    expect((await fleet.run('status', 'lonely')).out).toContain('It was told to stop.');
    // A resume that no worker has begun with is taken back.
    const resumed = fleet.start(['resume', 'lonely']);
    await resumed.says('waits for a worker');
    expect((await fleet.run('stop', 'lonely')).out).toContain('lonely has stopped: paused.');
    expect((await resumed.ended).code).toBe(3);
    await fleet.worker('one');
    await fleet.run('run', 'hello', '--run-id', 'other');
    expect(trace()).toBe('ran\n');
    expect(await fleet.run('resume', 'lonely')).toMatchObject({ code: 0, out: 'hello\n' });
    expect(trace()).toBe('ran\nran\n');
  });

  test('ends one whose worker is gone and that only asks', async () => {
    const worker = await fleet.worker('one');
    const following = fleet.run('run', 'ask', '--run-id', 'asking', '--on-ask', 'wait');
    await expect.poll(async () => (await fleet.run('asks')).out, { timeout: 10_000 }).toContain('Which?');
    await worker.kill('SIGTERM');
    const stopped = await fleet.run('stop', 'asking');
    expect(stopped).toMatchObject({ code: 0, err: '' });
    expect(stopped.out).toContain('asking has stopped');
    await following;
    await fleet.worker('one');
    expect((await fleet.run('status', 'asking', '--json')).out).toContain('"status":"paused"');
    const resuming = fleet.run('resume', 'asking');
    await fleet.run('answer', 'asking', 'this');
    expect(await resuming).toMatchObject({ code: 0, out: 'chosen\n' });
    expect(trace()).toBe('asked\n');
  });

  test('cannot end turns of a worker that is gone: it says so, and the worker stops the run when it is back', async () => {
    const worker = await fleet.worker('one');
    const following = fleet.run('run', 'gate', '--run-id', 'gated');
    await expect.poll(trace, { timeout: 10_000 }).toBe('start\n');
    const refused = await fleet.run('resume', 'gated', '--budget', '3');
    expect(refused).toMatchObject({ code: 64, out: '' });
    expect(refused.err).toContain('The run gated is running: options and --retry have no effect on it.');
    await worker.kill();
    await fleet.database.query(`update raymond.nodes set heartbeat_at = now() - interval '1 minute'`);
    const stopped = await fleet.run('stop', 'gated');
    expect(stopped.code).toBe(0);
    expect(stopped.out).toBe('gated stops as soon as there is its worker one, which is not running.\n');
    expect((await fleet.run('status', 'gated')).out).toContain('It waits for its worker one, which is not running.');
    openGate();
    await fleet.worker('one');
    expect((await following).code).toBe(3);
    expect(trace()).toBe('start\n');
  });
});

describe('who follows a run', () => {
  test('reads what it waits for, in lines and in events', async () => {
    const plain = fleet.start(['run', 'gate', '--run-id', 'lonely', '--label', 'repo=app']);
    await plain.says('the run waits for a worker');
    const events = fleet.start(['resume', 'lonely', '--events']);
    const waits = (): readonly unknown[] =>
      events.out
        .split('\n')
        .filter((line) => line.includes('"run_waiting"'))
        .map((line) => JSON.parse(line).waits_for);
    // Each follower reports a wait only once it has lasted, so both must have seen one before it changes.
    const reported = (...expected: readonly unknown[]) =>
      expect.poll(waits, { timeout: 20_000 }).toStrictEqual(expected);
    await reported('a worker');
    await fleet.worker('plain');
    await plain.says('the run waits for a worker with the label repo=app');
    await reported('a worker', 'a worker with the label repo=app');
    await fleet.worker('special', '--label', 'repo=app');
    await reported('a worker', 'a worker with the label repo=app', null);
    openGate();
    expect(await plain.ended).toMatchObject({ code: 0, out: 'through\n' });
    expect(await events.ended).toMatchObject({ code: 0 });
  });
});

describe('a database that is away when a run is to start', () => {
  test('is waited for', async () => {
    const worker = await fleet.worker('one');
    await server.kill();
    const started = fleet.start(['run', 'hello', '--run-id', 'patient']);
    await started.says('Waiting for it');
    await server.restart();
    expect(await started.ended).toMatchObject({ code: 0, out: 'hello\n' });
    expect(started.err).toContain('The database is back.');
    // Neither DBOS nor its driver has anything to say to users.
    expect(worker.err).not.toMatch(/Warning|DBOS/);
  });

  test('is not waited for forever', async () => {
    const opened = openDatabaseStorage('postgres://u:geheim@127.0.0.1:1/x', { waitAtMostMs: 300 });
    await expect(opened).rejects.toThrow('The database 127.0.0.1:1/x cannot be reached (ECONNREFUSED).');
  });
});

describe('prune', () => {
  const count = async (table: string): Promise<number> => (await fleet.database.query(`select 1 from ${table}`)).length;

  test('removes runs with their rows, their entries in the queues, their workflows and their files', async () => {
    const worker = await fleet.worker('one');
    await fleet.run('run', 'hello', '--run-id', 'first');
    await fleet.run('run', 'ask', '--run-id', 'second', '--on-ask', 'exit');
    const files = join(fleet.folder, 'workers/one/.raymond/runs/first');
    expect(existsSync(files)).toBe(true);
    const plan = await fleet.run('prune');
    expect(plan.out).toMatch(/first +completed .* ago +\d/);
    expect(plan.out).not.toContain('second');
    expect(await fleet.run('prune', '--yes')).toMatchObject({ code: 0, err: '' });
    expect((await fleet.run('list', '--json')).out).not.toContain('first');
    expect(await count('raymond.runs')).toBe(1);
    expect(await count(`raymond.blobs where run is null`)).toBe(1);
    expect(await count(`raymond_dbos.workflow_status where workflow_uuid like 'first/%'`)).toBe(0);
    await expect
      .poll(() => worker.err.match(/stay for now.*/)?.[0] ?? existsSync(files), { timeout: 20_000 })
      .toBe(false);
    await expect.poll(() => count('raymond.removals')).toBe(0);
    await worker.kill('SIGTERM');
    // Whoever is not there removes its files later.
    expect(await fleet.run('prune', 'second', '--yes')).toMatchObject({ code: 0 });
    expect(await count('raymond.journal')).toBe(0);
    expect(await count('raymond_dbos.workflow_status')).toBe(0);
    await fleet.worker('one');
    await expect.poll(() => existsSync(join(fleet.folder, 'workers/one/.raymond/runs/second'))).toBe(false);
  });

  test('leaves nothing to a later run of the same id, however soon it is started', async () => {
    await fleet.worker('one');
    await fleet.run('run', 'hello', '--run-id', 'again');
    expect(await fleet.run('prune', 'again', '--yes')).toMatchObject({ code: 0 });
    expect(await fleet.run('run', 'hello', '--run-id', 'again')).toMatchObject({ code: 0, out: 'hello\n' });
    expect(trace()).toBe('ran\nran\n');
    await expect.poll(() => count('raymond.removals'), { timeout: 10_000 }).toBe(0);
    expect(existsSync(join(fleet.folder, 'workers/one/.raymond/runs/again/turns'))).toBe(true);
  });

  test('leaves the entries of a run with a similar id alone', async () => {
    for (const id of ['a-b', 'a_b']) await fleet.run('run', 'hello', '--run-id', id, '--detach');
    await fleet.run('stop', 'a_b');
    expect(await fleet.run('prune', 'a_b', '--yes')).toMatchObject({ code: 0 });
    const entries = await fleet.database.query('select workflow_uuid as id from raymond_dbos.workflow_status');
    expect(entries).toStrictEqual([{ id: 'a-b/place/1/1' }]);
  });

  test('refuses a run that a worker has', async () => {
    const started = fleet.start(['run', 'hello', '--run-id', 'lonely']);
    await started.says('run lonely');
    const refused = await fleet.run('prune', 'lonely', '--yes');
    expect(refused).toMatchObject({ code: 64, out: '' });
    expect(refused.err).toContain(
      'The run lonely is running: it is not removed.\nStop it first: `raymond stop lonely`.',
    );
    expect((await fleet.run('recover')).err).toContain('runs in a database need no recovery');
  });
});

describe('resume of a run that no worker has taken up yet', () => {
  test('follows it, and refuses options that would have no effect', async () => {
    await fleet.run('run', 'hello', '--run-id', 'lonely', '--detach');
    await fleet.run('stop', 'lonely');
    expect(await fleet.run('resume', 'lonely', '--budget', '20', '--detach')).toMatchObject({ code: 0 });
    expect(await fleet.run('resume', 'lonely', '--detach')).toMatchObject({ code: 0 });
    expect(await fleet.run('resume', 'lonely', '--budget', '30', '--detach')).toMatchObject({
      code: 64,
      err: expect.stringContaining('The run lonely is running: options and --retry have no effect on it.'),
    });
    await fleet.worker('one');
    await expect
      .poll(async () => (await fleet.run('status', 'lonely')).out, { timeout: 20_000 })
      .toContain('completed');
    expect((await fleet.run('status', 'lonely')).out).toContain('of $20.00');
  });
});
