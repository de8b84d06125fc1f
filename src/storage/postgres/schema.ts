import { EXIT, RaymondError } from '../../errors.ts';
import type { Database } from './database.ts';

/** The version of the tables; workers of another version leave them alone. */
export const SCHEMA_VERSION = 2;

/** The schema of the tables of DBOS, apart from those of other programs that use it in the same database. */
export const DBOS_SCHEMA = 'raymond_dbos';

/** A table that databases of an earlier Raymond do not have. It holds nothing that must last, so a worker makes it. */
export const WORKTREE_REQUESTS = `
create unlogged table if not exists raymond.worktree_requests (
  id text not null,
  worker text not null,
  request text not null,
  answer text,
  asked_at timestamptz not null default now(),
  primary key (id, worker)
);
`;

/** The requests of people to runs; the outcome is null while one is pending. */
export const REQUESTS_TABLE = `
create table raymond.requests (
  run text not null references raymond.runs (id) on delete cascade,
  id text not null,
  kind text not null,
  by text not null,
  at bigint not null,
  content text not null,
  outcome text,
  primary key (run, id)
);
create index pending_requests on raymond.requests (run) where outcome is null;
`;

/**
 * Converts the rows that tables of version 1 have for requests: answers and ends of questions, messages, and the column `stop`. They
 * are pending; the node that drives the run finds out which of them the journal has. Uploads keep their rows, by run, question and name.
 */
export const CONVERT_REQUESTS = `
insert into raymond.requests (run, id, kind, by, at, content)
select run, ask, 'answer', data ->> 'by', (data ->> 'answered_at')::bigint,
  json_build_object('text', data ->> 'text', 'files',
    array(select 'run/' || run || '/upload/' || ask || '/' || name from json_array_elements_text(data -> 'files') as name))
from (select run, ask, content::json as data from raymond.answers) as answers where data ->> 'kind' = 'answered'
union all
select run, ask, 'timeout', 'deadline', (data ->> 'at')::bigint, '{}'
from (select run, ask, content::json as data from raymond.answers) as answers where data ->> 'kind' = 'timed_out';
insert into raymond.requests (run, id, kind, by, at, content)
select run, id, case data ->> 'kind' when 'say' then 'message' else 'interrupt' end, data ->> 'by', at,
  json_build_object('agent', data ->> 'agent', 'text', data ->> 'text')
from (select run, id, at, content::json as data from raymond.words) as words on conflict do nothing;
insert into raymond.requests (run, id, kind, by, at, content)
select id, 'stop-' || stop || '-' || life, 'stop', 'raymond', (extract(epoch from updated_at) * 1000)::bigint,
  json_build_object('mode', stop, 'lease', life::text)
from raymond.runs where stop is not null and status = 'running' on conflict do nothing;
alter table raymond.uploads drop constraint uploads_run_ask_fkey;
alter table raymond.uploads add foreign key (run) references raymond.runs (id) on delete cascade;
drop table raymond.answers;
drop table raymond.words;
alter table raymond.runs drop column stop;
`;

/** Files that the runs of several nodes share, by key; those of a run go with it. */
export const BLOBS_TABLE = `
create table raymond.blobs (
  key text primary key,
  run text references raymond.runs (id) on delete cascade,
  node text,
  bytes bytea not null,
  created_at timestamptz not null default now()
);
create index blobs_of_run on raymond.blobs (run);
`;

/** The tables of the current version. */
export const TABLES = `
create schema raymond;
create table raymond.about (version integer not null, worker_deadline interval not null default '30 seconds');
insert into raymond.about (version) values (${SCHEMA_VERSION});
create table raymond.runs (
  id text primary key,
  status text not null,
  seq integer not null,
  epoch integer not null default 0,
  generation integer not null default 1,
  driver text,
  waits_for text,
  labels text[] not null default '{}',
  begun integer not null default 0,
  move integer not null default 0,
  announced integer not null default 0,
  request jsonb,
  mark text not null,
  snapshot text not null,
  snapshot_seq integer not null,
  workflow text not null,
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
${REQUESTS_TABLE}${BLOBS_TABLE}create unlogged table raymond.watchers (
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
create table raymond.remote_turns (
  run text not null references raymond.runs (id) on delete cascade,
  agent text not null,
  turn text not null,
  node text not null,
  is_new boolean not null,
  boot text,
  withdrawn boolean not null default false,
  problem text,
  outcome text,
  primary key (run, agent, turn)
);
create index ended_turns on raymond.remote_turns (run) where outcome is not null;
create table raymond.turn_requests (
  run text not null,
  agent text not null,
  turn text not null,
  id text not null,
  event text,
  heard boolean not null default false,
  primary key (run, agent, turn, id),
  foreign key (run, agent, turn) references raymond.remote_turns on delete cascade
);
create table raymond.removals (
  run text not null,
  mark text not null,
  worker text not null,
  primary key (run, mark, worker)
);
create table raymond.nodes (
  name text primary key,
  token text not null,
  host text not null,
  pid integer not null,
  identity text not null,
  slots integer not null,
  labels text[] not null default '{}',
  draining boolean not null default false,
  started_at timestamptz not null default now(),
  steady_since timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
);
${WORKTREE_REQUESTS}`;

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

/** Makes the table for requests about worktrees, unless it is there; false if that is not possible. */
export async function ensureWorktreeRequests(database: Pick<Database, 'query'>): Promise<boolean> {
  const isThere = (): Promise<boolean> => hasRequests((sql) => database.query(sql));
  if (await isThere()) return true;
  // Another worker may make it at the same time, and an account may not be permitted to.
  await database.query(WORKTREE_REQUESTS).catch(() => {});
  return isThere();
}

/** True if there is a table for requests about worktrees. */
export async function hasRequests(
  query: (sql: string) => Promise<readonly { readonly is_there?: boolean }[]>,
): Promise<boolean> {
  const [found] = await query(`select to_regclass('raymond.worktree_requests') is not null as is_there`);
  return found?.is_there === true;
}

/** Reads the version of the tables; null if there are none. */
export async function readVersion(
  query: (sql: string) => Promise<readonly { readonly version?: number; readonly is_there?: boolean }[]>,
): Promise<number | null> {
  const [found] = await query(`select to_regclass('raymond.about') is not null as is_there`);
  if (!found?.is_there) return null;
  const [row] = await query('select version from raymond.about');
  return row?.version ?? null;
}

/** The error for tables of another version. */
export const wrongVersionError = (version: number): RaymondError =>
  new RaymondError(
    `The tables of the database have version ${version}, ${
      version > SCHEMA_VERSION ? 'newer' : 'older'
    } than this Raymond, which uses version ${SCHEMA_VERSION}.`,
    {
      exitCode: EXIT.invalid,
      hint:
        version > SCHEMA_VERSION
          ? 'Nothing was touched. Install the Raymond that the others use.'
          : 'Nothing was touched. Stop its workers, then run `raymond database init`: it upgrades the tables, and the runs continue.',
    },
  );
