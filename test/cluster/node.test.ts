import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PostgresServer } from '../postgres/server.ts';
import { type Fleet, GATE } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let server: PostgresServer;
let fleet: Fleet;

useFleet('each', (opened, started) => {
  fleet = opened;
  server = started;
});

const COUNT = {
  'count/START.sh': '#!/bin/bash\necho start >> trace\necho "<goto>MIDDLE.sh</goto>"\n',
  'count/MIDDLE.sh': '#!/bin/bash\necho middle >> trace\necho "<result>done by $RAYMOND_AGENT_ID</result>"\n',
};

/** Its script waits for a file, so that a test decides when it ends. */
const trace = (): string => readFileSync(join(fleet.folder, 'trace'), 'utf8');
const openGate = (): void => writeFileSync(join(fleet.folder, 'open'), '');
const gateIsReached = (): Promise<void> =>
  expect.poll(() => existsSync(join(fleet.folder, 'trace')), { timeout: 10_000 }).toBe(true);

describe('a worker', () => {
  test('drives a run, which its command follows to the end', async () => {
    fleet.write(COUNT);
    await fleet.worker('one');
    const ended = await fleet.run('run', 'count', '--run-id', 'first');
    expect(ended).toMatchObject({ code: 0, out: 'done by main\n' });
    expect(ended.err).toContain('[main] START.sh → MIDDLE.sh (goto)');
    expect(trace()).toBe('start\nmiddle\n');
  });

  test('that is killed or told twice to end continues after its next start; what ran meanwhile is not run again', async () => {
    fleet.write({ ...GATE, 'gate/START.sh': GATE['gate/START.sh'].replace('\n', '\necho waiting\n') });
    const worker = await fleet.worker('one');
    const following = fleet.run('run', 'gate', '--run-id', 'gated');
    await gateIsReached();
    await worker.kill('SIGKILL');
    const second = await fleet.worker('one');
    await second.says('driving gated');
    // It publishes output again once it follows the turn: before that, a signal would find nothing to wait for.
    const published = `select 1 from raymond.output where run = 'gated'`;
    await expect
      .poll(async () => (await fleet.database.query(published)).length, { timeout: 20_000 })
      .toBeGreaterThan(0);
    second.child.kill('SIGTERM');
    await second.says('ends when the running turns have ended');
    second.child.kill('SIGTERM');
    expect((await second.ended).code).toBe(130);
    openGate();
    await fleet.worker('one');
    expect(await following).toMatchObject({ code: 0, out: 'through\n' });
    expect(trace()).toBe('start\nafter\n');
  });

  test('lets running turns finish when it is told to end, and begins nothing more', async () => {
    fleet.write(GATE);
    const worker = await fleet.worker('one');
    const following = fleet.run('run', 'gate', '--run-id', 'gated');
    await gateIsReached();
    worker.child.kill('SIGTERM');
    await worker.says('ends when the running turns have ended');
    expect((await fleet.run('status', 'gated')).out).toContain(
      'It waits for the next start of its worker one, which begins nothing more.',
    );
    openGate();
    expect((await worker.ended).code).toBe(0);
    expect(trace()).toBe('start\n');
    expect((await fleet.run('status', 'gated')).out).toContain('It waits for its worker one, which is not running.');
    await fleet.worker('one');
    expect(await following).toMatchObject({ code: 0, out: 'through\n' });
    expect(trace()).toBe('start\nafter\n');
  });

  test('whose name is in use is refused', async () => {
    await fleet.worker('one');
    const second = await fleet.run('worker', '--name', 'one');
    expect(second.code).toBe(64);
    expect(second.err).toMatch(/The worker name one is in use by process \d+ on /);
    expect(second.err).not.toContain(server.password);
  });

  test('with labels gets the runs that want them; a run that nobody can take says what it waits for', async () => {
    fleet.write(COUNT);
    await fleet.worker('plain');
    const following = fleet.run('run', 'count', '--run-id', 'labelled', '--label', 'repo=app');
    const status = async (): Promise<string> => (await fleet.run('status', 'labelled')).out;
    await expect.poll(status, { timeout: 10_000 }).toContain('It waits for a worker with the label repo=app.');
    const special = await fleet.worker('special', '--label', 'repo=app', '--label', 'os=linux');
    expect(await following).toMatchObject({ code: 0, out: 'done by main\n' });
    expect(special.err).toContain('driving labelled');
  });

  test('and who follows wait for a database that is restarted; nothing is lost or done twice', async () => {
    fleet.write(GATE);
    const worker = await fleet.worker('one');
    const following = fleet.run('run', 'gate', '--run-id', 'gated');
    await gateIsReached();
    await server.kill();
    openGate();
    await worker.says('cannot be reached');
    await server.restart();
    expect(await following).toMatchObject({ code: 0, out: 'through\n' });
    expect(trace()).toBe('start\nafter\n');
    expect(worker.err + (await following).err).not.toContain(server.password);
  });
});

describe('who follows a run', () => {
  test('leaves it running with Ctrl-C', async () => {
    fleet.write(GATE);
    await fleet.worker('one');
    const started = fleet.start(['run', 'gate', '--run-id', 'gated']);
    await gateIsReached();
    const left = await started.kill('SIGINT');
    expect(left.code).toBe(130);
    expect(left.err).toContain('gated continues in ');
    openGate();
    const resumed = await fleet.run('resume', 'gated');
    expect(resumed).toMatchObject({ code: 0, out: 'through\n' });
    expect(trace()).toBe('start\nafter\n');
  });
});
