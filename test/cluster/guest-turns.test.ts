import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GuestTurns } from '../../src/cluster/guest-turns.ts';
import { openGuestWorld, RunCopy } from '../../src/cluster/guest-world.ts';
import { due } from '../../src/core/turns/due.ts';
import { type Command, type Fleet, GATE, WAIT_FOR_OPEN } from './fleet.ts';
import { useFleet } from './use-fleet.ts';
import { openWorkerContext } from './worker-context.ts';

let fleet: Fleet;

useFleet('each', (opened) => {
  fleet = opened;
});

/** The first turn of a run that `one` drives and whose agent is at home with `two`. */
const QUEUED = { run: 'far', agent: 'main', turn: '1', node: 'two', retry: false, generation: 1 };

/** Starts such a run, and waits until its first turn is on its way; returns its driver. */
async function startRun(...args: readonly string[]): Promise<Command> {
  await fleet.run('run', ...args, '--run-id', 'far', '--detach');
  await fleet.setHome('far', 'two');
  const driver = await fleet.worker('one');
  await expect
    .poll(() => fleet.database.query('select turn from raymond.remote_turns'), { timeout: 30_000 })
    .toHaveLength(1);
  return driver;
}

const file = (name: string): string => join(fleet.folder, name);
/** How the turn ended, while nobody drives the run. */
const readOutcome = async (): Promise<unknown> => {
  const [row] = await fleet.database.query<{ outcome: string }>('select outcome from raymond.remote_turns');
  return JSON.parse(row?.outcome ?? 'null');
};

test('an interruption that comes while a turn is made ready ends it', async () => {
  // It tells its version as late as the test wants, and ends without an answer if it is told something besides its prompt.
  const claude = `#!/bin/bash
cd ${fleet.folder}
[ "$1" = --version ] || { echo begun >> trace; exec head -n 2 > /dev/null; }
echo asked >> trace
${WAIT_FOR_OPEN}
echo "2.1.325 (Claude Code)"
`;
  fleet.write({ 'talk/START.md': 'Begin.', 'claude.sh': claude });
  const driver = await startRun('talk', '--claude', file('claude.sh'));
  const guestTurns = new GuestTurns(await openWorkerContext(fleet, 'two'));
  const taken = guestTurns.take(QUEUED);
  await expect.poll(() => existsSync(file('trace')), { timeout: 30_000 }).toBe(true);
  expect(await fleet.run('interrupt', 'far', 'Stop that.')).toMatchObject({ code: 0 });
  await expect
    .poll(() => fleet.database.query('select id from raymond.turn_requests'), { timeout: 30_000 })
    .toHaveLength(1);
  await driver.kill();
  await guestTurns.poll();
  writeFileSync(file('open'), '');
  await expect.poll(() => readFileSync(file('trace'), 'utf8'), { timeout: 30_000 }).toBe('asked\nbegun\n');
  await guestTurns.poll();
  expect(await taken).toBe(true);
  expect(await readOutcome()).toMatchObject({ end: { kind: 'failed', agent: 'main' } });
}, 90_000);

test('what was given to a worker before it may have been taken for gone is not begun, but looked for again', async () => {
  fleet.write(GATE);
  await (await startRun('gate')).kill();
  const worker = await openWorkerContext(fleet, 'two', { countMissedHeartbeats: () => 1 });
  const copy = await RunCopy.load(fleet.database, 'far');
  const run = await copy.read();
  const { world, adapt, close } = await openGuestWorld(worker, run, { mark: copy.mark, retry: false, gaps: 0 });
  const [turn] = due(adapt(run));
  if (turn?.kind !== 'script') throw new Error('no script is due');
  // Others may stand in line with it.
  for (let each = 0; each < 2; each += 1) {
    await world.prepare(turn);
    await expect(world.take(turn)).rejects.toThrow('not heard of');
  }
  await close();
  expect(await new GuestTurns(worker).take(QUEUED)).toBe(true);
  expect(await readOutcome()).toMatchObject({ end: { kind: 'failed', failure: { kind: 'lost' } } });
  expect(existsSync(file('trace'))).toBe(false);
}, 90_000);
