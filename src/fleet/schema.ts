import { setTimeout as delay } from 'node:timers/promises';
import { EXIT, RaymondError } from '../errors.ts';
import { type Database, explainDatabaseError } from './database.ts';
import { loadDbos, loadPg } from './load-packages.ts';
import { INIT_LOCK } from './locks.ts';

/** The version of the tables; workers of another version leave them alone. */
export const SCHEMA_VERSION = 1;

/** The schema of the tables of DBOS, apart from those of other programs that use it in the same database. */
export const DBOS_SCHEMA = 'raymond_dbos';

const TABLES = `
create schema raymond;
create table raymond.about (version integer not null, worker_deadline interval not null default '30 seconds');
insert into raymond.about (version) values (${SCHEMA_VERSION});
create table raymond.workflows (
  hash text primary key,
  archive bytea not null,
  created_at timestamptz not null default now()
);
create table raymond.runs (
  id text primary key,
  status text not null,
  seq integer not null,
  epoch integer not null default 0,
  life integer not null default 1,
  driver text,
  waits_for text,
  labels text[] not null default '{}',
  stop text,
  begun integer not null default 0,
  move integer not null default 0,
  announced integer not null default 0,
  request jsonb,
  mark text not null,
  snapshot text not null,
  snapshot_seq integer not null,
  workflow text not null references raymond.workflows (hash),
  workflow_path text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index runs_of_driver on raymond.runs (driver) where status = 'running';
create table raymond.journal (
  run text not null references raymond.runs (id) on delete cascade,
  seq integer not null,
  epoch integer not null,
  change text not null,
  primary key (run, seq)
);
create table raymond.answers (
  run text not null references raymond.runs (id) on delete cascade,
  ask text not null,
  content text not null,
  primary key (run, ask)
);
create table raymond.uploads (
  run text not null,
  ask text not null,
  name text not null,
  content bytea not null,
  primary key (run, ask, name),
  foreign key (run, ask) references raymond.answers (run, ask) on delete cascade
);
create table raymond.words (
  run text not null references raymond.runs (id) on delete cascade,
  id text not null,
  at bigint not null,
  content text not null,
  primary key (run, id)
);
create table raymond.turns (
  run text not null references raymond.runs (id) on delete cascade,
  agent text not null,
  number integer not null,
  files bytea not null,
  primary key (run, agent, number)
);
create table raymond.conversations (
  run text not null references raymond.runs (id) on delete cascade,
  session text not null,
  worker text not null,
  files bytea,
  primary key (run, session)
);
create unlogged table raymond.watchers (
  run text primary key references raymond.runs (id) on delete cascade,
  until timestamptz not null
);
create unlogged table raymond.output (
  run text not null references raymond.runs (id) on delete cascade,
  agent text not null,
  number integer not null,
  file text not null,
  position bigint not null,
  worker text not null,
  bytes bytea not null,
  primary key (run, agent, number, file, position)
);
create table raymond.placements (
  run text not null references raymond.runs (id) on delete cascade,
  agent text not null,
  home text not null,
  published text,
  primary key (run, agent)
);
create table raymond.travelling (
  run text not null references raymond.runs (id) on delete cascade,
  agent text not null,
  turn text not null,
  home text not null,
  is_new boolean not null,
  boot text,
  withdrawn boolean not null default false,
  problem text,
  outcome text,
  primary key (run, agent, turn)
);
create index ended_turns on raymond.travelling (run) where outcome is not null;
create table raymond.turn_requests (
  run text not null,
  agent text not null,
  turn text not null,
  id text not null,
  event text,
  heard boolean not null default false,
  primary key (run, agent, turn, id),
  foreign key (run, agent, turn) references raymond.travelling on delete cascade
);
create table raymond.removals (
  run text not null,
  mark text not null,
  worker text not null,
  primary key (run, mark, worker)
);
create table raymond.workers (
  name text primary key,
  token text not null,
  host text not null,
  pid integer not null,
  identity text not null,
  slots integer not null,
  labels text[] not null default '{}',
  leaving boolean not null default false,
  started_at timestamptz not null default now(),
  steady_since timestamptz not null default now(),
  beat_at timestamptz not null default now()
);
`;

/** What became of a database: prepared just now, or before. */
export type InitOutcome = 'prepared' | 'unchanged';

/**
 * Prepares a database. However many do that at the same time, one after the other does: the migrations of DBOS would wait
 * for each other for ever.
 */
export async function initDatabase({ address }: Database): Promise<InitOutcome> {
  const [{ Client }, { DBOS }] = [await loadPg(), await loadDbos()];
  const client = new Client({ connectionString: address, application_name: 'raymond' });
  client.on('error', () => {});
  try {
    await client.connect();
    await takeLock(async () => (await client.query('select pg_try_advisory_lock($1) as taken', [INIT_LOCK])).rows);
    const version = await readVersion(async (sql) => (await client.query(sql)).rows);
    if (version !== null && version !== SCHEMA_VERSION) throw wrongVersionError(version);
    if (version === null) await client.query(`begin; ${TABLES} commit;`);
    await silently(() => DBOS.migrate(address, { schemaName: DBOS_SCHEMA }));
    return version === null ? 'prepared' : 'unchanged';
  } catch (error) {
    throw explainDatabaseError(address, error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Asks again and again: a statement that waits would keep the migrations from ending, which wait for all statements. */
async function takeLock(tryOnce: () => Promise<readonly { readonly taken: boolean }[]>): Promise<void> {
  while (!(await tryOnce())[0]?.taken) await delay(LOCK_POLL_INTERVAL_MS);
}

const LOCK_POLL_INTERVAL_MS = 100;

/** Throws if the tables are missing, older or newer than this Raymond. Nothing is changed. */
export async function checkSchema(database: Database): Promise<void> {
  const version = await readVersion((sql) => database.query(sql));
  if (version === SCHEMA_VERSION) return;
  if (version !== null) throw wrongVersionError(version);
  throw new RaymondError(`The database ${database.name} has not been prepared for Raymond.`, {
    exitCode: EXIT.usage,
    hint: '`raymond database init` does that, once.',
  });
}

async function readVersion(
  query: (sql: string) => Promise<readonly { readonly version?: number; readonly is_there?: boolean }[]>,
): Promise<number | null> {
  const [found] = await query(`select to_regclass('raymond.about') is not null as is_there`);
  if (!found?.is_there) return null;
  const [row] = await query('select version from raymond.about');
  return row?.version ?? null;
}

const wrongVersionError = (version: number): RaymondError =>
  new RaymondError(
    `The tables of the database have version ${version}, ${
      version > SCHEMA_VERSION ? 'newer' : 'older'
    } than this Raymond, which uses version ${SCHEMA_VERSION}.`,
    {
      exitCode: EXIT.invalid,
      hint:
        version > SCHEMA_VERSION
          ? 'Nothing was touched. Install the Raymond that the others use.'
          : 'Nothing was touched. Use the Raymond that made them until its runs have ended, then a new database.',
    },
  );

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
