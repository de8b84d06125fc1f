import { mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { initDatabase } from '../../src/cluster/init-database.ts';
import { loadDbos } from '../../src/cluster/queues.ts';
import { type Database, openDatabase } from '../../src/storage/postgres/database.ts';
import { checkSchema, DBOS_SCHEMA } from '../../src/storage/postgres/schema.ts';
import { addStateChecksum } from '../../src/storage/run-file.ts';
import { PINNED } from '../claude-code/pinned.ts';
import { startMessagesApi } from '../messages-api/server.ts';
import { PostgresServer } from '../postgres/server.ts';
import { resealLine } from '../storage/reseal.ts';
import { refusalOf } from '../storage/run-history.ts';
import { Fleet } from './fleet.ts';

const DUMP = readFileSync(join(import.meta.dirname, 'fixtures/tables-1.sql'), 'utf8');
/** The folder in which the runs of the dump were started. */
const FOLDER = '/tmp/project';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});

afterAll(() => server.stop());

/** A database with the tables of version 1, and their runs. */
async function restore(): Promise<Database> {
  const database = await openDatabase(await server.createDatabase());
  const { DBOS } = await loadDbos();
  await DBOS.migrate(database.address, { schemaName: DBOS_SCHEMA });
  await database.query(DUMP);
  return database;
}

/** Moves the runs of the dump to another folder: their snapshots and journals have other checksums then. */
async function moveRuns(database: Database, folder: string): Promise<void> {
  for (const { id, snapshot } of await database.query<{ id: string; snapshot: string }>(
    'select id, snapshot from raymond.runs',
  )) {
    const { checksum: _, ...content } = JSON.parse(snapshot.replaceAll(FOLDER, folder));
    const moved = addStateChecksum(JSON.stringify(content, null, 2));
    await database.query('update raymond.runs set snapshot = $2 where id = $1', [id, moved]);
  }
  const rows = await database.query<{ run: string; seq: number; change: string }>('select * from raymond.journal');
  for (const { run, seq, change } of rows)
    await database.query('update raymond.journal set change = $3 where run = $1 and seq = $2', [
      run,
      seq,
      resealLine(change.replaceAll(FOLDER, folder)),
    ]);
}

test('tables of version 1 are refused with the command that upgrades them, and only while no worker is alive', async () => {
  const database = await restore();
  const refusal = await refusalOf(() => checkSchema(database));
  expect(refusal.message).toBe(
    'The tables of the database have version 1, older than this Raymond, which uses version 2.',
  );
  expect(refusal.hint).toContain('run `raymond database init`');
  await database.query(`update raymond.workers set beat_at = now() where name = 'two'`);
  const inUse = await refusalOf(() => initDatabase(database));
  expect(inUse.message).toBe('The tables of the database cannot be upgraded while a worker is alive: two.');
  expect(await database.query('select version from raymond.about')).toStrictEqual([{ version: 1 }]);
  expect(await database.query('select run from raymond.words')).toHaveLength(1);
  await database.query(`update raymond.workers set beat_at = now() - interval '1 day'`);
  expect(await initDatabase(database)).toBe('upgraded');
  expect(await initDatabase(database)).toBe('unchanged');
  await checkSchema(database);
  await database.close();
});

const claude = PINNED.at(-1);

test('an upgrade that fails changes nothing', async () => {
  const database = await restore();
  await database.query(`insert into raymond.answers values ('gate', 'broken', 'no json')`);
  await expect(initDatabase(database)).rejects.toThrow();
  expect(await database.query('select version from raymond.about')).toStrictEqual([{ version: 1 }]);
  expect(await database.query('select name from raymond.workers')).toHaveLength(2);
  await database.close();
});

test.skipIf(!claude?.isInstalled)(
  'every run of tables of version 1 continues after the upgrade, with all that people have asked of it',
  { timeout: 180_000 },
  async () => {
    const database = await restore();
    const fleet: Fleet = Reflect.construct(Fleet, [mkdtempSync(join(tmpdir(), 'raymond-upgraded-')), database]);
    const api = await startMessagesApi();
    try {
      fleet.write({ 'told.yaml': 'answers:\n  HEAR.md: "<result>told</result>"\n', trace: '', open: '' });
      symlinkSync(claude?.path ?? '', join(fleet.folder, 'claude'));
      await moveRuns(database, fleet.folder);
      // As if another worker had been the last to store it: this one has lost its disk.
      await database.query(`update raymond.conversations set worker = 'three'`);
      expect(await initDatabase(database)).toBe('upgraded');
      const workers = await Promise.all([
        fleet.claudeWorker(api, 'one', '--label', 'drives=yes', '--slots', '8'),
        fleet.worker('two', '--label', 'home=yes'),
      ]);
      const statusOf = async (run: string): Promise<string | undefined> =>
        (await database.query<{ status: string }>('select status from raymond.runs where id = $1', [run]))[0]?.status;
      const follow = async (run: string, ...args: readonly string[]): Promise<string> => {
        await expect.poll(() => statusOf(run), { timeout: 60_000 }).not.toBe('running');
        const { out, err } = await fleet.run('resume', run, ...args);
        return out || err;
      };
      expect(await follow('waiting')).toBe('got that\n');
      expect(await follow('asking')).toBe('this from a person\n');
      // The machine has another boot: nobody knows how far these scripts came.
      for (const run of ['gate', 'far', 'halted']) expect(await follow(run, '--retry')).toBe('through\n');
      expect(await follow('told', '--retry')).toBe('told\n');
      expect(await follow('talk', '--retry')).toBe('over\n');
      expect((await fleet.run('resume', 'done')).out).toBe('finished\n');
      expect((await fleet.run('logs', 'done', '--raw')).out).toContain('<result>finished</result>');
      expect((await fleet.run('logs', 'told')).out).toContain('Be brief');
      const [last] = api.requests.filter(({ prompt }) => prompt.startsWith('next'));
      expect(JSON.stringify(last?.messages)).toContain('the word is plum');
      await Promise.all(workers.map((worker) => worker.kill('SIGTERM')));
    } finally {
      await fleet.close();
      await api.close();
    }
  },
);
