import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { driveRun } from '../../src/cluster/drive-run.ts';
import { GuestTurns } from '../../src/cluster/guest-turns.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { LeaseLostError } from '../../src/storage/opened-run.ts';
import { insertTurn, insertTurnRequest } from '../../src/storage/postgres/remote-turn-rows.ts';
import { type Fleet, GATE } from './fleet.ts';
import { useFleet } from './use-fleet.ts';
import { openWorkerContext } from './worker-context.ts';

let fleet: Fleet;

useFleet('each', async (opened) => {
  fleet = opened;
  fleet.write(GATE);
  await fleet.run('run', 'gate', '--run-id', 'gated', '--detach');
});

const REQUEST = { run: 'gated', generation: 1, options: {}, retry: false };

test('a worker that drove a run gives it up when it gets a turn of it from another one, and its turns can be ended', async () => {
  const worker = await openWorkerContext(fleet, 'one');
  const guestTurns = new GuestTurns(worker);
  const driving = guestTurns.driveHere(REQUEST, (lost) => driveRun(REQUEST, worker, lost));
  await expect.poll(() => existsSync(join(fleet.folder, 'trace')), { timeout: 30_000 }).toBe(true);
  const { database } = fleet;
  await database.query(`update raymond.runs set driver = 'two', move = 1, epoch = epoch + 1`);
  const turn = { run: 'gated', agent: 'main', turn: '1', node: 'one', retry: false, generation: 1 };
  await database.transaction((client) => insertTurn(client, turn, null));
  await insertTurnRequest(database, turn, { id: 'end', command: null });
  const taking = guestTurns.take(turn);
  expect(await driving).toBe(true);
  let isTaken = false;
  taking.then(() => {
    isTaken = true;
  });
  await expect.poll(() => guestTurns.poll().then(() => isTaken), { timeout: 30_000 }).toBe(true);
  const [row] = await database.query<{ mark: string; outcome: string }>(
    'select mark, outcome from raymond.runs join raymond.remote_turns on run = id',
  );
  expect(JSON.parse(row?.outcome ?? 'null')).toMatchObject({ end: { kind: 'failed', agent: 'main' } });
  expect(await findMarkedProcesses(`gated/${row?.mark}/`)).toStrictEqual([]);
}, 90_000);

test('a run that could not be taken up as a whole is left before it is taken up again', async () => {
  await fleet.setHome('gated', 'two');
  const worker = await openWorkerContext(fleet, 'one');
  const { travel } = worker;
  const { findSent } = travel;
  const waitForEnd = travel.waitForEnd.bind(travel);
  const waits: AbortSignal[] = [];
  const countWaits = (): number => waits.filter(({ aborted }) => !aborted).length;
  const waitsAtStart: number[] = [];
  travel.findSent = (run) => {
    waitsAtStart.push(countWaits());
    return findSent(run);
  };
  travel.waitForEnd = (turn, over) => {
    waits.push(over);
    return waitForEnd(turn, over);
  };
  // The first of these statements fails, as if it had been cancelled.
  await fleet.database.query(`
    create sequence raymond.attempts;
    create function raymond.cancel_first() returns trigger language plpgsql as
    'begin if nextval(''raymond.attempts'') = 1 then raise exception using errcode = ''57014''; end if; return new; end';
    create trigger cancel_first before update of begun on raymond.runs for each row execute function raymond.cancel_first()`);
  const lost = new AbortController();
  const driving = driveRun(REQUEST, worker, lost.signal);
  await expect.poll(() => waitsAtStart, { timeout: 30_000 }).toStrictEqual([0, 0]);
  await expect.poll(countWaits, { timeout: 30_000 }).toBe(1);
  lost.abort(new LeaseLostError('gated'));
  expect(await driving).toBe(false);
  expect(countWaits()).toBe(0);
}, 90_000);
