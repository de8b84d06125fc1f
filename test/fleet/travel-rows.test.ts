import { expect, test } from 'vitest';
import type { Database } from '../../src/fleet/database.ts';
import {
  acceptTurn,
  insertTurn,
  type SentTurn,
  selectOutcomes,
  storeOutcome,
  withdrawTurn,
} from '../../src/fleet/travel-rows.ts';
import { useFleet } from './use-fleet.ts';

let database: Database;

useFleet('all', async (fleet) => {
  database = fleet.database;
  await database.query(`insert into raymond.workflows (hash, archive) values ('h', '')`);
  await database.query(
    `insert into raymond.runs (id, status, seq, mark, snapshot, snapshot_seq, workflow, workflow_path)
     values ('r', 'running', 0, 'm', '', 0, 'h', 'w')`,
  );
});

const turnOf = (turn: string) => ({ run: 'r', agent: 'main', turn, home: 'two' });
const send = (turn: string, boot: string | null = null): Promise<SentTurn> =>
  database.transaction((client) => insertTurn(client, turnOf(turn), boot));
/** As it is when the turn was put on record for another worker. */
const sendNew = async (turn: string): Promise<SentTurn> => {
  await database.query(
    `insert into raymond.travelling (run, agent, turn, home, is_new) values ('r', 'main', $1, 'two', true)`,
    [turn],
  );
  return send(turn);
};
const OUTCOME = { signals: [], end: null };

test('a turn that has ended cannot be withdrawn: its end counts', async () => {
  await sendNew('1');
  await acceptTurn(database, turnOf('1'), 'boot');
  await storeOutcome(database, turnOf('1'), OUTCOME);
  expect(await withdrawTurn(database, turnOf('1'))).toBeNull();
  expect(await selectOutcomes(database, ['r'])).toMatchObject([{ turn: '1', outcome: OUTCOME }]);
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
  expect((await selectOutcomes(database, ['r'])).map(({ turn }) => turn)).not.toContain('3');
});

test('a turn that an earlier driver may have begun itself is not taken for new, and its worker is told in which boot', async () => {
  expect(await send('4', 'before')).toStrictEqual({ isWithdrawn: false, isUnbegun: false });
  expect(await send('4', 'later')).toStrictEqual({ isWithdrawn: false, isUnbegun: false });
  expect(await acceptTurn(database, turnOf('4'), 'now')).toBe('before');
});
