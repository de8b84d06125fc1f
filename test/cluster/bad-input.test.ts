import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { describe, expect, test } from 'vitest';
import { assignRun } from '../../src/cluster/assign-run.ts';
import { QueueClient } from '../../src/cluster/queues.ts';
import { explainDatabaseError, openDatabase, soundsUnreachable } from '../../src/storage/postgres/database.ts';
import type { PostgresServer } from '../postgres/server.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let server: PostgresServer;
let fleet: Fleet;

useFleet('each', (opened, started) => {
  fleet = opened;
  server = started;
  fleet.write({ 'hello/START.sh': '#!/bin/bash\ntouch ran\necho "<result>hello</result>"\n' });
});

const COMMANDS = [['list'], ['run', 'hello'], ['worker', '--name', 'one'], ['database', 'init']] as const;

/** Runs each command on an address; all must end with this code and these words, and never say the password. */
async function expectRefusal(address: string, code: number, words: RegExp, commands: readonly (readonly string[])[]) {
  for (const args of commands) {
    const ended = await fleet.run(...args, '--database', address);
    expect(ended.err, args[0]).toMatch(words);
    expect(ended, args[0]).toMatchObject({ code, out: '' });
    expect(ended.err).not.toContain('a bug in Raymond');
    expect(ended.err).not.toMatch(/geheim/);
    expect(ended.err).not.toContain(server.password);
  }
}

describe('a database that cannot be used gets a sentence', () => {
  test('wrong password', () =>
    expectRefusal(
      server.addressOf('test_1', { password: 'geheim' }),
      64,
      /^raymond: The database 127\.0\.0\.1:\d+\/test_1 does not let us in: .*\nCheck --database/,
      COMMANDS,
    ));

  test('no such database', () =>
    expectRefusal(server.addressOf('nowhere'), 64, /There is no database 127\.0\.0\.1:\d+\/nowhere\./, COMMANDS));

  test('no TLS where the address wants it', () =>
    expectRefusal(
      `${fleet.address}?sslmode=verify-full`,
      64,
      /There is no safe connection to the database .*: The server does not support SSL connections\.\nCheck sslmode/,
      COMMANDS,
    ));

  test('nobody listens', () =>
    expectRefusal(
      'postgres://somebody:geheim@127.0.0.1:1/raymond',
      64,
      /The database 127\.0\.0\.1:1\/raymond cannot be reached \(ECONNREFUSED\)\./,
      [['list'], ['status'], ['database', 'init']],
    ));

  test.each([
    ['a socket that is not there', 'postgres:///raymond?host=/missing', /cannot be reached \(ENOENT\)\./],
    [
      'a certificate that is not there',
      'postgres://127.0.0.1:1/raymond?sslrootcert=/missing',
      /There is no safe connection to the database .*ENOENT/,
    ],
    [
      'a part that is not encoded',
      'postgres://127.0.0.1:1/%ZZ',
      /The address of the database is not one of PostgreSQL\./,
    ],
    [
      'a port that cannot be',
      'postgres://h/raymond?port=999999',
      /The address of the database is not one of PostgreSQL\./,
    ],
  ])('%s', (_, address, words) => expectRefusal(address, 64, words, [['list'], ['database', 'init']]));

  test('not prepared', async () => {
    const empty = await server.createDatabase();
    await expectRefusal(empty, 64, /has not been prepared for Raymond\.\n`raymond database init` does that, once\./, [
      ['list'],
      ['run', 'hello'],
      ['worker', '--name', 'one'],
    ]);
  });

  test.each([
    [0, 'older'],
    [99, 'newer'],
  ])('tables of version %d', async (version, age) => {
    await fleet.database.query('update raymond.about set version = $1', [version]);
    const words = new RegExp(`version ${version}, ${age} than this Raymond, which uses version \\d+\\.\\nNothing was`);
    await expectRefusal(fleet.address, 65, words, COMMANDS);
    expect(await fleet.database.query('select version from raymond.about')).toStrictEqual([{ version }]);
    expect(await fleet.database.query('select * from raymond.runs')).toStrictEqual([]);
  });

  test('a user without rights', async () => {
    await fleet.database.query(`create role nobody_at_all login password 'geheim'`);
    await expectRefusal(
      fleet.address.replace(/\/\/[^@]+@/, '//nobody_at_all:geheim@'),
      64,
      /The user of the database .* may not do that: permission denied for schema raymond\.\ndocs\/fleet\.md/,
      [['list'], ['run', 'hello'], ['worker', '--name', 'one']],
    );
  });

  test('another error of the database', async () => {
    await fleet.database.query('alter table raymond.runs rename column labels to tags');
    await expectRefusal(fleet.address, 64, /The database .* refuses: column "labels" .* \(42703\)\./, [
      ['run', 'hello'],
    ]);
    expect(existsSync(`${fleet.folder}/ran`)).toBe(false);
  });
});

test('a run that nobody can take leaves no row for every time that it was tried', async () => {
  const started = fleet.start(['run', 'hello', '--run-id', 'lonely', '--label', 'repo=app']);
  await started.says('run lonely');
  await started.kill();
  const queues = await QueueClient.open(fleet.database);
  const request = { run: 'lonely', generation: 1, options: {}, retry: false };
  for (let attempt = 1; attempt <= 5; attempt += 1) await assignRun(fleet.database, queues, request, attempt);
  const entries = await fleet.database.query('select workflow_uuid as id from raymond_dbos.workflow_status order by 1');
  expect(entries).toStrictEqual([{ id: 'lonely/place/1/5' }, { id: 'lonely/place/1/6' }]);
  expect((await fleet.run('status', 'lonely')).out).toContain('It waits for a worker with the label repo=app.');
  await queues.close();
});

describe('who waits for a database', () => {
  test.each([
    'the database system is not yet accepting connections',
    'Failed to initialize workflow executor: the database system is starting up',
    'Unable to connect to system database: connect ECONNREFUSED 127.0.0.1:5432',
    'terminating connection due to unexpected postmaster exit',
  ])('waits when DBOS says: %s', (message) => {
    expect(explainDatabaseError(fleet.address, new Error(message))).toMatchObject({
      message: expect.stringMatching(/^The database \S+ cannot be reached \(/),
    });
    expect(soundsUnreachable(message)).toBe(true);
  });

  test('says so once, however many wait, and that it is back', async () => {
    const said: (string | null)[] = [];
    const closed = await listen();
    const { port } = closed.address() as { port: number };
    await new Promise((done) => closed.close(done));
    const database = await openDatabase(`postgres://u:geheim@127.0.0.1:${port}/x`, 4, (message) => said.push(message));
    let isThere = false;
    const ask = () =>
      database.retryUntilReachable(async () => {
        if (!isThere) await database.query('select 1');
        return 'there';
      });
    const answers = Promise.all([ask(), ask(), ask()]);
    await expect.poll(() => said.length).toBeGreaterThan(0);
    isThere = true;
    expect(await answers).toStrictEqual(['there', 'there', 'there']);
    expect(said).toStrictEqual([`The database 127.0.0.1:${port}/x cannot be reached (ECONNREFUSED).`, null]);
    await database.close();
  });
});

const listen = (): Promise<Server> =>
  new Promise((done) => {
    const listening = createServer().listen(0, '127.0.0.1', () => done(listening));
  });
