import { expect, test } from 'vitest';
import type { Database } from '../../src/storage/postgres/database.ts';
import {
  acceptTurn,
  insertTurn,
  type SentTurn,
  selectOutcomes,
  storeOutcome,
  withdrawTurn,
} from '../../src/storage/postgres/remote-turn-rows.ts';
import { useFleet } from './use-fleet.ts';

let database: Database;

useFleet('all', async (fleet) => {
  database = fleet.database;
  await database.query(
    `insert into raymond.runs (id, status, seq, mark, snapshot, snapshot_seq, workflow, workflow_path)
     values ('r', 'running', 0, 'm', '', 0, 'h', 'w')`,
  );
});

const turnOf = (turn: string) => ({ run: 'r', agent: 'main', turn, node: 'two' });
const send = (turn: string, boot: string | null = null): Promise<SentTurn> =>
  database.transaction((client) => insertTurn(client, turnOf(turn), boot));
/** As it is when the turn was put on record for another worker. */
const sendNew = async (turn: string): Promise<SentTurn> => {
  await database.query(
    `insert into raymond.remote_turns (run, agent, turn, node, is_new) values ('r', 'main', $1, 'two', true)`,
    [turn],
  );
  return send(turn);
};
const fail = (message: string): void => expect.fail(message);
const OUTCOME = { signals: [], end: null };

test('a turn that has ended cannot be withdrawn: its end counts', async () => {
  await sendNew('1');
  await acceptTurn(database, turnOf('1'), 'boot');
  await storeOutcome(database, turnOf('1'), OUTCOME);
  expect(await withdrawTurn(database, turnOf('1'))).toBeNull();
  expect(await selectOutcomes(database, ['r'], fail)).toMatchObject([{ turn: '1', outcome: OUTCOME }]);
});

test('a turn that was withdrawn is never taken, and whoever drives the run next is told', async () => {
  expect(await sendNew('2')).toStrictEqual({ isWithdrawn: false, isUnbegun: true });
  expect(await withdrawTurn(database, turnOf('2'))).toStrictEqual({ isWithdrawn: true, isUnbegun: true });
  expect(await acceptTurn(database, turnOf('2'), 'boot')).toBeUndefined();
  expect(await send('2')).toStrictEqual({ isWithdrawn: true, isUnbegun: true });
});

test('what a worker says of a turn that was withdrawn from it does not count', async () => {
  await sendNew('3');
  await acceptTurn(database, turnOf('3'), 'boot');
  expect(await withdrawTurn(database, turnOf('3'))).toStrictEqual({ isWithdrawn: true, isUnbegun: false });
  await storeOutcome(database, turnOf('3'), OUTCOME);
  expect((await selectOutcomes(database, ['r'], fail)).map(({ turn }) => turn)).not.toContain('3');
});

test('a turn that an earlier driver may have begun itself is not taken for new, and its worker is told in which boot', async () => {
  expect(await send('4', 'before')).toStrictEqual({ isWithdrawn: false, isUnbegun: false });
  expect(await send('4', 'later')).toStrictEqual({ isWithdrawn: false, isUnbegun: false });
  expect(await acceptTurn(database, turnOf('4'), 'now')).toBe('before');
});
