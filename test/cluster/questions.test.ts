import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunPlace } from '../../src/app/launcher.ts';
import { openDatabaseStorage } from '../../src/cluster/database-storage.ts';
import { loadRunRows } from '../../src/storage/postgres/run-rows.ts';
import { serializeSavedRun } from '../../src/storage/run-file.ts';
import type { Ended, Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('all', async (opened) => {
  fleet = opened;
  fleet.write({
    'color/START.sh':
      '#!/bin/bash\necho "<ask next=END.sh timeout=1h timeout_next=END.sh upload_slots=a.txt:text/plain>Which color?</ask>"\n',
    'color/END.sh':
      '#!/bin/bash\necho "<result>$RAYMOND_RESULT, $(cat "$RAYMOND_TASK_FOLDER/asks/$RAYMOND_ASK_ID/a.txt")</result>"\n',
    'a.txt': 'a file\n',
    'a.png': 'a picture\n',
  });
  await fleet.worker('one');
});

const HOUR_MS = 3_600_000;

async function whenAsked(run: string): Promise<string> {
  const read = async (): Promise<string> => (await fleet.run('asks', '--json')).out;
  await expect.poll(read, { timeout: 20_000 }).toContain(`"run_id":"${run}"`);
  return JSON.parse(await read()).questions.find((each: { run_id: string }) => each.run_id === run).ask_id;
}

async function withRuns(action: (place: RunPlace) => Promise<void>): Promise<void> {
  const place = await openDatabaseStorage(fleet.address);
  try {
    await action(place);
  } finally {
    await place.storage.close();
  }
}

/** Runs a command on a machine whose clock differs from the database's. */
function runAhead(byMs: number, ...args: readonly string[]): Promise<Ended> {
  fleet.write({ 'machine.cjs': `const now = Date.now; Date.now = () => now() + ${byMs};` });
  return fleet.start(args, { NODE_OPTIONS: `--require=${join(fleet.folder, 'machine.cjs')}` }).ended;
}

test('an answer through the handle of a followed run keeps its files, and is checked as any other', async () => {
  await withRuns(async ({ launcher }) => {
    const options = { options: {}, labels: [], runId: 'followed', cwd: fleet.folder, env: process.env };
    const handle = await launcher.start(join(fleet.folder, 'color'), options);
    const ask = await whenAsked('followed');
    const upload = (name: string) => [{ name, path: join(fleet.folder, name) }];
    await expect(handle.answer(ask, 'blue', upload('a.png'))).rejects.toThrow('a.png');
    expect(await handle.answer('main-99', 'blue', upload('a.txt'))).toBe(false);
    expect(await handle.answer(ask, 'blue', upload('a.txt'))).toBe(true);
    expect((await handle.finished).agents).toMatchObject([{ phase: { result: 'blue, a file' } }]);
    expect(await handle.answer(ask, 'red', upload('a.txt'))).toBe(false);
  });
});

test('the clock of the database says whether a question still waits, not that of the machine', async () => {
  const following = fleet.run('run', 'color', '--run-id', 'timed', '--on-ask', 'wait');
  const ask = await whenAsked('timed');
  expect((await runAhead(2 * HOUR_MS, 'asks')).out).toContain(`raymond answer timed ${ask} "TEXT"`);
  expect((await runAhead(2 * HOUR_MS, 'status', 'timed')).out).toContain(`raymond answer timed ${ask} "TEXT"`);
  const answered = await runAhead(2 * HOUR_MS, 'answer', 'timed', 'blue', '--upload', 'a.txt');
  expect(answered).toMatchObject({ code: 0, err: `${ask} of timed is answered.\n` });
  expect(await following).toMatchObject({ code: 0 });
  const events = (await fleet.run('logs', 'timed', '--json')).out.trim().split('\n');
  const times = events.map((line) => Math.abs(Date.parse(JSON.parse(line).at) - Date.now()));
  expect(Math.max(...times)).toBeLessThan(HOUR_MS);
});

test('a machine whose clock is behind cannot answer a question whose time is over', async () => {
  const following = fleet.run('run', 'color', '--run-id', 'late', '--on-ask', 'wait');
  const ask = await whenAsked('late');
  await fleet.run('stop', 'late');
  await following;
  await endTimeOfQuestion('late');
  expect((await runAhead(-2 * HOUR_MS, 'asks')).out).toContain('its time was over');
  expect(await runAhead(-2 * HOUR_MS, 'answer', 'late', 'blue', '--upload', 'a.txt')).toMatchObject({
    code: 64,
    err: expect.stringContaining(`question ${ask} of late is over: its time was over`),
  });
});

/** As if the time for the answer had passed a minute ago. */
async function endTimeOfQuestion(run: string): Promise<void> {
  const saved = await loadRunRows(fleet.database, run);
  const agents = saved.run.agents.map((agent) =>
    agent.phase.kind === 'asking' ? { ...agent, phase: { ...agent.phase, untilMs: Date.now() - 60_000 } } : agent,
  );
  const snapshot = serializeSavedRun({ ...saved, run: { ...saved.run, agents } });
  await fleet.database.query('update raymond.runs set snapshot = $2, snapshot_seq = seq where id = $1', [
    run,
    snapshot,
  ]);
}

test('status does not claim to know the open conversations of a run on other machines', async () => {
  await fleet.run('run', 'color', '--run-id', 'elsewhere', '--detach');
  const { out } = await fleet.run('status', 'elsewhere', '--json');
  expect(JSON.parse(out).open_conversations).toBeNull();
  expect((await fleet.run('status', 'elsewhere')).out).not.toContain('conversation');
});
