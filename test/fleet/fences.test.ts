import type { QueryResultRow } from 'pg';
import { expect, test } from 'vitest';
import { due } from '../../src/core/due.ts';
import type { World } from '../../src/engine/world.ts';
import { createConversationCopies } from '../../src/fleet/conversation-rows.ts';
import type { Database } from '../../src/fleet/database.ts';
import { LostHomes } from '../../src/fleet/lost-homes.ts';
import { QueueClient } from '../../src/fleet/queues.ts';
import { Requests } from '../../src/fleet/requests.ts';
import { Travel } from '../../src/fleet/travel.ts';
import { acceptTurn, insertTurn, withdrawTurn } from '../../src/fleet/travel-rows.ts';
import { TravellingRun } from '../../src/fleet/travelling-run.ts';
import { claimWorkerName, type WorkerName } from '../../src/fleet/worker-name.ts';
import { fixedHistory } from '../store/run-history.ts';
import { useFleet } from './use-fleet.ts';

let database: Database;

useFleet('all', async (fleet) => {
  database = fleet.database;
  await database.query(`insert into raymond.workflows (hash, archive) values ('h', '')`);
});

const addRun = (id: string, epoch: number): Promise<unknown> =>
  database.query(
    `insert into raymond.runs (id, status, seq, epoch, mark, snapshot, snapshot_seq, workflow, workflow_path)
     values ($1, 'running', 0, $2, 'm', '', 0, 'h', 'w')`,
    [id, epoch],
  );

const setEpoch = (id: string, epoch: number): Promise<unknown> =>
  database.query('update raymond.runs set epoch = $2 where id = $1', [id, epoch]);

/** What another worker finds of a conversation. */
async function find(run: string, session = 's'): Promise<string | undefined> {
  const files = await createConversationCopies(database, run, 'nobody', expect.fail).fetch(session);
  return files?.['s.jsonl']?.toString();
}

const said = (text: string) => ({ 's.jsonl': Buffer.from(text) });
const TURN = { agent: 'main', state: 'NEXT.md', number: 2 };

test('a worker that drove a run leaves the conversation alone once the run was given to another', async () => {
  await addRun('driven', 1);
  const old = createConversationCopies(database, 'driven', 'one', expect.fail, 1);
  await old.store(TURN, 's', said('old'));
  expect(await find('driven')).toBe('old');
  await setEpoch('driven', 2);
  await createConversationCopies(database, 'driven', 'two', expect.fail, 2).store(TURN, 's', said('new'));
  await old.store(TURN, 's', said('of a zombie'));
  await old.store(TURN, 'another', said('of a zombie'));
  expect(await find('driven')).toBe('new');
  expect(await find('driven', 'another')).toBeUndefined();
});

test('a worker that has a turn of another driver stores its conversation, until the turn is withdrawn from it', async () => {
  await addRun('guest', 5);
  const turn = { run: 'guest', agent: 'main', turn: '2', home: 'one' };
  await database.transaction((client) => insertTurn(client, turn, null));
  await acceptTurn(database, turn, 'boot');
  const guest = createConversationCopies(database, 'guest', 'one', expect.fail);
  await guest.store(TURN, 's', said('old'));
  expect(await find('guest')).toBe('old');
  await withdrawTurn(database, turn);
  await guest.store(TURN, 's', said('of a zombie'));
  expect(await find('guest')).toBe('old');
});

test('a worker reads the answers to the questions that wait, and no others', async () => {
  await addRun('asked', 1);
  for (const ask of ['old', 'open'])
    await database.query(`insert into raymond.answers (run, ask, content) values ('asked', $1, '')`, [ask]);
  const read: unknown[] = [];
  const observed = {
    async query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]> {
      const rows = await database.query<Row>(sql, values);
      read.push(...rows);
      return rows;
    },
  };
  const requests = new Requests(observed, 'one');
  expect(requests.hasAnswer('asked', 'open')).toBe(false);
  expect(requests.hasAnswer('asked', 'unanswered')).toBe(false);
  await requests.look();
  expect(requests.hasAnswer('asked', 'open')).toBe(true);
  expect(requests.hasAnswer('asked', 'unanswered')).toBe(false);
  expect(read).toStrictEqual([{ key: 'asked/open' }]);
  // Nobody waits any more.
  for (let looks = 0; looks < 10; looks += 1) await requests.look();
  read.length = 0;
  await requests.look();
  expect(read).toStrictEqual([]);
});

test('who does not drive a run any longer waits for no turn of it', async () => {
  const { run } = fixedHistory(1);
  await addRun(run.id, 1);
  const queues = await QueueClient.open(database);
  const lostHomes = new LostHomes(database, { stopOf: () => null }, { name: 'one', token: '' });
  const worker = { name: 'one', leaving: new AbortController().signal, warn: expect.fail };
  const initial = { ...run, agents: run.agents.map((agent) => ({ ...agent, home: 'two' })) };
  const unused = (): never => expect.fail('nothing is done here');
  const world: World = { prepare: unused, take: unused, save: unused, end: unused, notify: unused };
  const travelling = new TravellingRun(new Travel(database, queues, worker, lostHomes), {
    initial,
    whenLost: 'wait',
    sentBefore: new Set(),
    formerBootId: null,
    retry: false,
    life: 1,
    world,
    here: world,
    send: unused,
  });
  const [turn] = due(initial);
  if (turn === undefined) return expect.fail('nothing is due');
  const taking = travelling.take(turn);
  const sent = (): Promise<readonly unknown[]> =>
    database.query('select home from raymond.travelling where run = $1', [run.id]);
  await expect.poll(sent, { timeout: 20_000 }).toStrictEqual([{ home: 'two' }]);
  travelling.close();
  expect(await taking).toBeNull();
  await queues.close();
});

test('of several that take a new name at the same moment, one gets it', async () => {
  // Until all of them have come to look for it, nobody can.
  const claims = await database.transaction(async (client) => {
    await client.query('lock table raymond.workers in exclusive mode');
    const claiming = [1, 2, 3].map(() => claimWorkerName(database, { name: 'new', slots: 1, labels: [] }, expect.fail));
    const waiting = async (): Promise<number> =>
      (await client.query('select 1 from pg_locks where not granted')).rows.length;
    await expect.poll(waiting, { timeout: 30_000 }).toBe(claiming.length);
    return { ended: Promise.allSettled(claiming) };
  });
  const ended = await claims.ended;
  const taken = ended.flatMap((claim): WorkerName[] => (claim.status === 'fulfilled' ? [claim.value] : []));
  const reasons = ended.flatMap((claim) => (claim.status === 'rejected' ? [String(claim.reason)] : []));
  await Promise.all(taken.map((name) => name.release()));
  expect(taken).toHaveLength(1);
  for (const reason of reasons) expect(reason).toContain('The worker name new is in use by process');
});
