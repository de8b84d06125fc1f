import type { QueryResultRow } from 'pg';
import { expect, test } from 'vitest';
import { LostNodes } from '../../src/cluster/lost-nodes.ts';
import { acquireNodeName, type NodeName } from '../../src/cluster/node-name.ts';
import { createConversationCopies } from '../../src/cluster/node-run.ts';
import { QueueClient } from '../../src/cluster/queues.ts';
import { RemoteTurns } from '../../src/cluster/remote-turns.ts';
import { RemoteWorld } from '../../src/cluster/remote-world.ts';
import { due } from '../../src/core/turns/due.ts';
import type { World } from '../../src/engine/world.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { createDatabaseInbox, settleRequest } from '../../src/storage/postgres/inbox.ts';
import {
  acceptTurn,
  insertTurn,
  insertTurnRequest,
  selectTurnRequests,
  withdrawTurn,
} from '../../src/storage/postgres/remote-turn-rows.ts';
import { Requests } from '../../src/storage/postgres/request-poll.ts';
import { stopIdOf } from '../../src/storage/requests.ts';
import { fixedHistory } from '../storage/run-history.ts';
import { useFleet } from './use-fleet.ts';

let database: Database;

useFleet('all', async (fleet) => {
  database = fleet.database;
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
  const turn = { run: 'guest', agent: 'main', turn: '2', node: 'one' };
  await database.transaction((client) => insertTurn(client, turn, null));
  await acceptTurn(database, turn, 'boot');
  const guest = createConversationCopies(database, 'guest', 'one', expect.fail);
  await guest.store(TURN, 's', said('old'));
  expect(await find('guest')).toBe('old');
  await withdrawTurn(database, turn);
  await guest.store(TURN, 's', said('of a zombie'));
  expect(await find('guest')).toBe('old');
});

test('workers of this and of the last version understand what each other tells a turn', async () => {
  await addRun('told', 1);
  const turn = { run: 'told', agent: 'main', turn: '2', node: 'listener' };
  await database.transaction((client) => insertTurn(client, turn, null));
  const message = { kind: 'message', id: 'm', agent: 'main', turn: 2, text: 'Listen' } as const;
  await insertTurnRequest(database, turn, { id: 'm', command: message });
  const [row] = await database.query<{ event: string }>(`select event from raymond.turn_requests where run = 'told'`);
  expect(JSON.parse(row?.event ?? '')).toStrictEqual({
    kind: 'said',
    said: 'm',
    agent: 'main',
    turn: 2,
    text: 'Listen',
  });
  const about = { at: 1, agent: 'main', state: 'NEXT.md', text: null, by: 'ann', saidAt: 1, refused: null };
  const event = { kind: 'turn_interrupted', interrupt: 'i', turn: 2, ...about };
  await database.query(
    `insert into raymond.turn_requests (run, agent, turn, id, event) values ('told', 'main', '2', 'i', $1)`,
    [JSON.stringify(event)],
  );
  const commands = (await selectTurnRequests(database, 'listener', expect.fail)).map(({ command }) => command);
  const interrupt = { kind: 'interrupt', id: 'i', agent: 'main', turn: 2 };
  expect(commands.toSorted((a, b) => (a?.id ?? '').localeCompare(b?.id ?? ''))).toStrictEqual([interrupt, message]);
});

test('a worker reads the pending requests of the runs that it drives, and no others', async () => {
  for (const [run, driver] of [
    ['ours', 'one'],
    ['theirs', 'two'],
  ] as const) {
    await addRun(run, 1);
    await database.query(`update raymond.runs set driver = $2, status = 'running' where id = $1`, [run, driver]);
    for (const id of ['settled', 'pending'])
      await createDatabaseInbox(database).put(run, { kind: 'message', id, by: 'b', at: 1, agent: 'main', text: run });
    await settleRequest(database, run, 'settled', { kind: 'accepted', turn: null });
  }
  const read: QueryResultRow[] = [];
  const observed = {
    name: database.name,
    retryUntilReachable: <T>(action: () => Promise<T>) => database.retryUntilReachable(action),
    async query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]> {
      const rows = await database.query<Row>(sql, values);
      read.push(...rows);
      return rows;
    },
  };
  const requests = new Requests(observed, 'one');
  await requests.poll();
  expect(read.map(({ run, id }) => [run, id])).toStrictEqual([['ours', 'pending']]);
  expect(requests.pendingOf('ours')).toMatchObject([{ kind: 'message', id: 'pending', text: 'ours' }]);
  expect(requests.pendingOf('theirs')).toStrictEqual([]);
  const settled = requests.settle('ours', 'pending', { kind: 'accepted', turn: 1 });
  // Before the database has it: nobody may handle it again.
  expect(requests.pendingOf('ours')).toStrictEqual([]);
  await settled;
  read.length = 0;
  await requests.poll();
  expect(read).toStrictEqual([]);
});

test('a stop counts for the generation of the run that it is addressed to, also after it is settled', async () => {
  await addRun('stopped', 1);
  await database.query(`update raymond.runs set driver = 'one', status = 'running' where id = 'stopped'`);
  const inbox = createDatabaseInbox(database);
  const stop = { kind: 'stop', by: 'b', at: 1 } as const;
  await inbox.put('stopped', { ...stop, id: stopIdOf('now', '1'), mode: 'now', lease: '1' });
  const requests = new Requests(database, 'one');
  await requests.poll();
  expect(requests.stopOf('stopped')).toBe('now');
  await requests.settle('stopped', stopIdOf('now', '1'), { kind: 'accepted', turn: null });
  await requests.poll();
  expect([requests.stopOf('stopped'), requests.pendingOf('stopped')]).toStrictEqual(['now', []]);
  await database.query(`update raymond.runs set generation = 2 where id = 'stopped'`);
  await requests.poll();
  expect(requests.stopOf('stopped')).toBe(null);
  await inbox.put('stopped', { ...stop, id: stopIdOf('soon', '1'), mode: 'soon', lease: '1' });
  await requests.poll();
  expect([requests.stopOf('stopped'), requests.pendingOf('stopped').length]).toStrictEqual([null, 1]);
});

test('who does not drive a run any longer waits for no turn of it', async () => {
  const { run } = fixedHistory(1);
  await addRun(run.id, 1);
  const queues = await QueueClient.open(database);
  const lostNodes = new LostNodes(database, { stopOf: () => null }, { name: 'one', token: '' });
  const worker = { name: 'one', leaving: new AbortController().signal, warn: expect.fail };
  const initial = { ...run, agents: run.agents.map((agent) => ({ ...agent, node: 'two' })) };
  const unused = (): never => expect.fail('nothing is done here');
  const effects = { save: unused, release: unused, deliver: unused, notify: unused };
  const world: World = { prepare: unused, take: unused, end: unused, ...effects };
  const travelling = new RemoteWorld(new RemoteTurns(database, queues, worker, lostNodes), {
    initial,
    whenLost: 'wait',
    sentBefore: new Set(),
    formerBootId: null,
    retry: false,
    generation: 1,
    world,
    here: world,
    send: unused,
  });
  const [turn] = due(initial);
  if (turn === undefined) return expect.fail('nothing is due');
  const taking = travelling.take(turn);
  const sent = (): Promise<readonly unknown[]> =>
    database.query('select node from raymond.remote_turns where run = $1', [run.id]);
  await expect.poll(sent, { timeout: 20_000 }).toStrictEqual([{ node: 'two' }]);
  travelling.close();
  expect(await taking).toBeNull();
  await queues.close();
});

test('of several that take a new name at the same moment, one gets it', async () => {
  // Until all of them have come to look for it, nobody can.
  const claims = await database.transaction(async (client) => {
    await client.query('lock table raymond.nodes in exclusive mode');
    const claiming = [1, 2, 3].map(() => acquireNodeName(database, { name: 'new', slots: 1, labels: [] }, expect.fail));
    const waiting = async (): Promise<number> =>
      (await client.query('select 1 from pg_locks where not granted')).rows.length;
    await expect.poll(waiting, { timeout: 30_000 }).toBe(claiming.length);
    return { ended: Promise.allSettled(claiming) };
  });
  const ended = await claims.ended;
  const taken = ended.flatMap((claim): NodeName[] => (claim.status === 'fulfilled' ? [claim.value] : []));
  const reasons = ended.flatMap((claim) => (claim.status === 'rejected' ? [String(claim.reason)] : []));
  await Promise.all(taken.map((name) => name.release()));
  expect(taken).toHaveLength(1);
  for (const reason of reasons) expect(reason).toContain('The worker name new is in use by process');
});
