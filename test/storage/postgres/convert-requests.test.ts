import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/storage/postgres/database.ts';
import { createDatabaseInbox } from '../../../src/storage/postgres/inbox.ts';
import { CONVERT_REQUESTS, REQUESTS_TABLE } from '../../../src/storage/postgres/schema.ts';
import { PostgresServer } from '../../postgres/server.ts';

let server: PostgresServer;
let database: Database;

beforeAll(async () => {
  server = await PostgresServer.start();
  database = await openDatabase(await server.createDatabase());
});
afterAll(async () => {
  await database.close();
  await server.stop();
});

/** The tables of version 1 as far as they are about requests. */
const VERSION_1 = `
create schema raymond;
create table raymond.runs (id text primary key, status text not null, life integer not null default 1, stop text,
  updated_at timestamptz not null default now());
create table raymond.answers (run text not null references raymond.runs (id) on delete cascade, ask text not null,
  content text not null, primary key (run, ask));
create table raymond.uploads (run text not null, ask text not null, name text not null, content bytea not null,
  primary key (run, ask, name), foreign key (run, ask) references raymond.answers (run, ask) on delete cascade);
create table raymond.words (run text not null references raymond.runs (id) on delete cascade, id text not null,
  at bigint not null, content text not null, primary key (run, id));
insert into raymond.runs values ('r1', 'running', 3, 'now', to_timestamp(7)), ('r2', 'paused', 1, 'soon', to_timestamp(7));
insert into raymond.answers values
  ('r1', 'main-1', '{"version":1,"kind":"answered","ask":"main-1","text":"a \\"b\\"","by":"anna","answered_at":5,"files":["a.txt"],"staged":null}'),
  ('r1', 'main-2', '{"version":1,"kind":"timed_out","ask":"main-2","at":1700000000123}');
insert into raymond.uploads values ('r1', 'main-1', 'a.txt', 'x');
insert into raymond.words values
  ('r1', 'm', 6, '{"version":1,"kind":"say","id":"m","agent":"main","text":"hello","by":"anna","at":6}'),
  ('r1', 'i', 8, '{"version":1,"kind":"interrupt","id":"i","agent":"main","text":null,"by":"anna","at":8}');
`;

test('answers, messages and stops of tables of version 1 become requests that are pending', async () => {
  await database.query(`begin; ${VERSION_1} ${REQUESTS_TABLE} ${CONVERT_REQUESTS} commit;`);
  const inbox = createDatabaseInbox(database);
  const requests = [
    { kind: 'answer', id: 'main-1', by: 'anna', at: 5, text: 'a "b"', files: ['run/r1/upload/main-1/a.txt'] },
    { kind: 'timeout', id: 'main-2', by: 'deadline', at: 1_700_000_000_123 },
    { kind: 'message', id: 'm', by: 'anna', at: 6, agent: 'main', text: 'hello' },
    { kind: 'interrupt', id: 'i', by: 'anna', at: 8, agent: 'main', text: null },
    { kind: 'stop', id: 'stop-now-3', by: 'raymond', at: 7000, mode: 'now', lease: '3' },
  ] as const;
  for (const request of requests) expect(await inbox.find('r1', request.id)).toStrictEqual({ request, outcome: null });
  const rows = await database.query<{ id: string }>('select id from raymond.requests order by id');
  expect(rows.map(({ id }) => id)).toStrictEqual(requests.map(({ id }) => id).sort());
  await database.query('delete from raymond.runs');
  expect(await database.query('select * from raymond.requests')).toStrictEqual([]);
  expect(await database.query('select * from raymond.uploads')).toStrictEqual([]);
});
