import type { ClientBase } from 'pg';
import { EXIT, RaymondError } from '../errors.ts';
import { BLOBS_TABLE, CONVERT_REQUESTS, DBOS_SCHEMA, REQUESTS_TABLE } from '../storage/postgres/schema.ts';
import type { DriveRequest, QueueClient } from './queues.ts';

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
export async function upgradeTables(client: ClientBase, queues: QueueClient): Promise<void> {
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
