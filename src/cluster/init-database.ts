import { setTimeout as delay } from 'node:timers/promises';
import { type Database, explainDatabaseError } from '../storage/postgres/database.ts';
import { loadPg } from '../storage/postgres/load-packages.ts';
import { INIT_LOCK } from '../storage/postgres/locks.ts';
import {
  DBOS_SCHEMA,
  hasRequests,
  readVersion,
  SCHEMA_VERSION,
  TABLES,
  WORKTREE_REQUESTS,
  wrongVersionError,
} from '../storage/postgres/schema.ts';
import { loadDbos } from './load-dbos.ts';
import { QueueClient } from './queues.ts';
import { upgradeTables } from './upgrade-tables.ts';

/** Says what was done about a database: its tables were made or upgraded just now, or nothing. */
export type InitOutcome = 'prepared' | 'upgraded' | 'unchanged';

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
