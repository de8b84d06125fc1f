import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { initDatabase } from '../../src/cluster/init-database.ts';
import { withChange } from '../../src/core/run/change.ts';
import { type Database, openDatabase } from '../../src/storage/postgres/database.ts';
import { createDatabaseLeases } from '../../src/storage/postgres/lease.ts';
import { formatRow, insertRun, loadRunRows } from '../../src/storage/postgres/run-rows.ts';
import { checkSchema, SCHEMA_VERSION } from '../../src/storage/postgres/schema.ts';
import { PostgresServer } from '../postgres/server.ts';
import { fixedHistory, type RunHistory, refusalOf, runAfter } from '../storage/run-history.ts';

let server: PostgresServer;
let database: Database;

beforeAll(async () => {
  server = await PostgresServer.start();
  database = await openDatabase(await server.createDatabase());
  await initDatabase(database);
});

afterAll(async () => {
  await database.close();
  await server.stop();
});

const NEVER = 1e9;
const OPTIONS = { node: { name: 'one', bootId: null, countMissedHeartbeats: () => 0 }, snapshotEveryMs: NEVER };

async function createRows({ run, events }: RunHistory): Promise<void> {
  await database.transaction(async (client) => {
    await insertRun(client, run, events, { workflow: 'hash', workflowPath: 'x', mark: 'mark', labels: [] });
  });
}

beforeEach(async () => {
  await database.query('truncate raymond.runs cascade');
});

describe('an append', () => {
  test('whose answer was lost counts once; it waits while the database is away', async () => {
    const waits: (string | null)[] = [];
    const own = await openDatabase(database.address, 2, (message) => waits.push(message));
    const history = fixedHistory(6);
    await createRows(history);
    const lease = await createDatabaseLeases(own, OPTIONS).acquire('run-1');
    const [first, second, ...others] = history.steps;
    if (first === undefined || second === undefined) throw new Error('too short');
    // As if the connection had broken after the commit: the statement is sent twice.
    const query = own.query.bind(own);
    let cut = true;
    own.query = async (sql, values) => {
      const rows = await query(sql, values);
      if (cut && sql.startsWith('with moved')) {
        cut = false;
        await query('select pg_terminate_backend(pg_backend_pid())');
      }
      return rows as never;
    };
    await lease.append([first]);
    expect(cut).toBe(false);
    await server.kill();
    const saving = lease.append([second]);
    await expect.poll(() => waits.at(-1), { timeout: 20_000 }).toMatch(/^The database .* cannot be reached/);
    await server.restart();
    await saving;
    expect(waits.at(-1)).toBeNull();
    for (const each of others) await lease.append([each]);
    await lease.release();
    expect((await loadRunRows(own, 'run-1')).run).toStrictEqual(runAfter(history, history.steps.length));
    expect(waits.join()).not.toContain(server.password);
    await own.close();
  });

  test('that puts a turn on record for another worker also puts it on its way', async () => {
    const history = fixedHistory(6);
    await createRows(history);
    const lease = await createDatabaseLeases(database, OPTIONS).acquire('run-1');
    let begun = 0;
    for (const { before, step } of history.steps) {
      const home = begun === 0 ? 'two' : 'one';
      const run = { ...step.run, agents: step.run.agents.map((agent) => ({ ...agent, node: home })) };
      begun += step.events.filter(({ kind }) => kind === 'turn_started').length;
      await lease.append([withChange(before, { ...step, run })]);
    }
    await lease.release();
    expect(begun).toBeGreaterThan(1);
    const rows = await database.query('select agent, turn, node, is_new, boot from raymond.remote_turns');
    expect(rows).toStrictEqual([{ agent: 'main', turn: '1', node: 'two', is_new: true, boot: null }]);
  });

  test('of a damaged row is found, not believed', async () => {
    const history = fixedHistory(2);
    await createRows(history);
    const lease = await createDatabaseLeases(database, OPTIONS).acquire('run-1');
    await lease.append(history.steps);
    const change = formatRow({ seq: 1, head: {}, agents: [], events: [] }, 1).replace('"seq":1', '"seq":7');
    await database.query("update raymond.journal set change = $1 where run = 'run-1' and seq = 1", [change]);
    const refusal = await refusalOf(() => loadRunRows(database, 'run-1'));
    expect(refusal.message).toMatch(
      /^A row of the journal of the run run-1 in .* is broken: its checksum does not match/,
    );
  });
});

describe('the tables', () => {
  test('are made once, however many make them at the same time', async () => {
    const fresh = await openDatabase(await server.createDatabase());
    await expect(checkSchema(fresh)).rejects.toThrow('has not been prepared for Raymond');
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => initDatabase(fresh)));
    expect(outcomes.sort()).toStrictEqual(['prepared', ...Array(4).fill('unchanged')]);
    await checkSchema(fresh);
    await fresh.close();
  });

  test('of another version are refused and left alone', async () => {
    const other = await openDatabase(await server.createDatabase());
    await initDatabase(other);
    for (const [version, word] of [
      [0, 'older'],
      [SCHEMA_VERSION + 1, 'newer'],
    ] as const) {
      await other.query('update raymond.about set version = $1', [version]);
      for (const refused of [checkSchema, initDatabase]) {
        const refusal = await refusalOf(() => refused(other));
        expect(refusal.message).toContain(`version ${version}, ${word} than this Raymond`);
        expect(refusal.hint).toMatch(/^Nothing was touched/);
      }
      expect(await other.query('select version from raymond.about')).toStrictEqual([{ version }]);
    }
    await other.close();
  });
});

describe('a database that cannot be used', () => {
  test.each([
    ['a server that is not there', () => 'postgres://user:secret@127.0.0.1:1/x', 'cannot be reached (ECONNREFUSED)'],
    ['a wrong password', () => server.addressOf('postgres', { password: 'secret' }), 'does not let us in'],
    ['a database that is not there', () => server.addressOf('nowhere'), 'There is no database'],
    ['no address of PostgreSQL', () => 'mysql://user:secret@127.0.0.1/x', 'is not one of PostgreSQL'],
    ['no address at all', () => 'user:secret', 'is not one of PostgreSQL'],
  ])('%s is named in a sentence without the password', async (_, addressOf, message) => {
    const refusal = await refusalOf(async () => {
      const opened = await openDatabase(addressOf());
      await checkSchema(opened).finally(() => opened.close());
    });
    expect(refusal.message).toContain(message);
    expect(refusal.hint).not.toBe(undefined);
    expect(`${refusal.message} ${refusal.hint}`).not.toContain('secret');
  });
});
