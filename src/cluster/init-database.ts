import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { EXIT, RaymondError } from '../errors.ts';
import { type Database, explainDatabaseError, INIT_LOCK, loadPg } from '../storage/postgres/database.ts';
import {
  BLOBS_TABLE,
  CONVERT_REQUESTS,
  DBOS_SCHEMA,
  hasRequests,
  REQUESTS_TABLE,
  readVersion,
  SCHEMA_VERSION,
  TABLES,
  WORKTREE_REQUESTS,
  wrongVersionError,
} from '../storage/postgres/schema.ts';
import { type DriveRequest, loadDbos, QueueClient } from './queues.ts';

/** Says what was done about a database: its tables were made or upgraded just now, or nothing. */
type InitOutcome = 'prepared' | 'upgraded' | 'unchanged';

const UPGRADED_VERSION = 1;

/** Prepares a database, or upgrades its tables. Concurrent calls take turns: the migrations of DBOS would deadlock. */
export async function initDatabase(database: Database): Promise<InitOutcome> {
  const { address } = database;
  const [{ Client }, { DBOS }] = [await loadPg(), await loadDbos()];
  let client: InstanceType<typeof Client> | undefined;
  try {
    // It reads the files of certificates that the address names.
    const connection = new Client({ connectionString: address, application_name: 'raymond' });
    client = connection;
    client.on('error', () => {});
    await client.connect();
    await takeLock(async () => (await connection.query('select pg_try_advisory_lock($1) as taken', [INIT_LOCK])).rows);
    const version = await readVersion(async (sql) => (await connection.query(sql)).rows);
    if (version !== null && version !== SCHEMA_VERSION && version !== UPGRADED_VERSION)
      throw wrongVersionError(version);
    if (version === null) await connection.query(`begin; ${TABLES} commit;`);
    else if (!(await hasRequests(async (sql) => (await connection.query(sql)).rows)))
      await connection.query(WORKTREE_REQUESTS);
    await silently(() => DBOS.migrate(address, { schemaName: DBOS_SCHEMA }));
    if (version === UPGRADED_VERSION) await upgrade(database, connection);
    return version === null ? 'prepared' : version === SCHEMA_VERSION ? 'unchanged' : 'upgraded';
  } catch (error) {
    throw explainDatabaseError(address, error);
  } finally {
    await client?.end().catch(() => {});
  }
}

/** All of it counts, or nothing does. */
async function upgrade(database: Database, client: Parameters<typeof upgradeTables>[0]): Promise<void> {
  const queues = await QueueClient.open(database);
  try {
    await client.query('begin');
    await upgradeTables(client, queues);
    await client.query('commit');
  } finally {
    await queues.close().catch(() => {});
  }
}

/** Asks again and again: a statement that waits would keep the migrations from ending, which wait for all statements. */
async function takeLock(tryOnce: () => Promise<readonly { readonly taken: boolean }[]>): Promise<void> {
  while (!(await tryOnce())[0]?.taken) await delay(LOCK_POLL_INTERVAL_MS);
}

const LOCK_POLL_INTERVAL_MS = 100;

/** DBOS says on stdout what it migrates, which is nobody's concern here. */
async function silently<T>(action: () => Promise<T>): Promise<T> {
  const { log, info, warn, error } = console;
  const nothing = (): void => {};
  Object.assign(console, { log: nothing, info: nothing, warn: nothing, error: nothing });
  try {
    return await action();
  } finally {
    Object.assign(console, { log, info, warn, error });
  }
}

const UPGRADE = `
${REQUESTS_TABLE}
${CONVERT_REQUESTS}
${BLOBS_TABLE}
insert into raymond.blobs (key, run, bytes)
select 'run/' || run || '/upload/' || ask || '/' || name, run, content from raymond.uploads;
insert into raymond.blobs (key, run, node, bytes)
select 'run/' || run || '/conversation/' || session, run, worker, files from raymond.conversations where files is not null;
insert into raymond.blobs (key, run, bytes)
select 'run/' || run || '/turn/' || agent || '/' || number, run, files from raymond.turns;
insert into raymond.blobs (key, bytes, created_at) select 'workflow/' || hash, archive, created_at from raymond.workflows;
alter table raymond.runs drop constraint runs_workflow_fkey;
drop table raymond.uploads, raymond.conversations, raymond.turns, raymond.workflows;
alter table raymond.workers rename to nodes;
alter table raymond.nodes rename leaving to draining;
alter table raymond.nodes rename beat_at to heartbeat_at;
-- Its driver repeats what the turn has not got.
delete from raymond.turn_requests where event is not null;
alter table raymond.travelling rename to remote_turns;
alter table raymond.remote_turns rename home to node;
alter table raymond.runs rename life to generation;
update raymond.runs set request = request - 'life' || jsonb_build_object('generation', request -> 'life') where request is not null;
update raymond.about set version = 2;
`;

/**
 * Upgrades tables of version 1, in a transaction of the caller. The entries of the queues are made anew, because DBOS recovers only those
 * of its own version; turns on other nodes are queued by the drivers of their runs.
 */
async function upgradeTables(client: ClientBase, queues: QueueClient): Promise<void> {
  // No node can take its name meanwhile.
  await client.query('lock table raymond.workers in access exclusive mode');
  const { rows: alive } = await client.query<{ name: string }>(
    `select name from raymond.workers, raymond.about where token <> ''
       and beat_at between now() - worker_deadline and now() + worker_deadline order by name`,
  );
  if (alive.length > 0) throw inUseError(alive.map(({ name }) => name));
  await client.query(UPGRADE);
  await client.query(`delete from ${DBOS_SCHEMA}.workflow_status`);
  const { rows: running } = await client.query<{ driver: string | null; move: number; request: DriveRequest }>(
    `select driver, move, request from raymond.runs where status = 'running' and request is not null order by id`,
  );
  for (const { driver, move, request } of running) {
    if (driver === null) await queues.add(client, request, { name: 'place', attempt: 1 });
    else await queues.add(client, { ...request, move }, { name: 'drive', worker: driver });
  }
}

const inUseError = (names: readonly string[]): RaymondError =>
  new RaymondError(
    `The tables of the database cannot be upgraded while ${names.length === 1 ? 'a worker is' : 'workers are'} alive: ${names.join(', ')}.`,
    { exitCode: EXIT.usage, hint: 'Nothing was touched. Stop them, then run `raymond database init` again.' },
  );
