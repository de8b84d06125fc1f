import { describe, expect, test } from 'vitest';
import { endMarked, endTurn } from '../../src/process/end.ts';
import { findCommand } from '../../src/process/find.ts';
import { findTurnProcesses, isTurnAlive } from '../../src/process/marker.ts';
import { processEntry } from '../../src/process/process-table.ts';
import { turnFiles } from '../../src/process/turn-files.ts';
import { awake, eventually, go, run, shell, signal, start, textOf, useTurns, WAIT_FOR_GO, wordsIn } from './turns.ts';

const turns = useTurns();
const { newTurn } = turns;
const PATIENT = { graceMs: 20_000 };
const NOBODY = { killed: 0, left: 0 };
const exited = (code: number) => ({ kind: 'exited', code }) as const;

describe('ending a turn', () => {
  test('sends SIGTERM first, and the exit status is recorded', async () => {
    const turn = newTurn();
    const started = await start(turn, shell(turn, 'trap "echo bye; exit 3" TERM; echo $$ >mine; sleep 60 & wait'));
    await wordsIn(turn, 'mine');
    expect(await endTurn(turn.dir, turn.marker, PATIENT)).toStrictEqual(NOBODY);
    expect(await awake(started.exited)).toStrictEqual(exited(3));
    expect(textOf(turnFiles(turn.dir).stdout)).toBe('bye\n');
  });

  test('sends SIGINT before that, if requested', async () => {
    const turn = newTurn();
    const script =
      'trap "echo INT; exit 4" INT; trap "echo TERM; exit 5" TERM; echo $$ >mine; while :; do sleep 0.01; done';
    const started = await start(turn, shell(turn, script));
    await wordsIn(turn, 'mine');
    expect(await endTurn(turn.dir, turn.marker, { ...PATIENT, interrupt: true })).toStrictEqual(NOBODY);
    expect(await awake(started.exited)).toStrictEqual(exited(4));
    expect(textOf(turnFiles(turn.dir).stdout)).toBe('INT\n');
  });

  test('kills a process that ignores signals, and the wrapper still records it', async () => {
    const turn = newTurn();
    const started = await start(turn, shell(turn, 'trap "" INT TERM; echo $$ >mine; exec sleep 60'));
    await wordsIn(turn, 'mine');
    const options = { graceMs: 20, interrupt: true };
    expect(await endTurn(turn.dir, turn.marker, options)).toStrictEqual({ killed: 1, left: 0 });
    expect(await awake(started.exited)).toStrictEqual(exited(137));
  });

  test('reaches a suspended process', async () => {
    const turn = newTurn();
    const started = await start(turn, shell(turn, 'echo $$ >mine; exec sleep 60'));
    const [command] = await wordsIn(turn, 'mine');
    signal(command, 'SIGSTOP');
    expect(await endTurn(turn.dir, turn.marker, PATIENT)).toStrictEqual(NOBODY);
    expect(await awake(started.exited)).toStrictEqual(exited(143));
  });

  test('finds grandchildren in their own sessions, while the command runs', async () => {
    const turn = newTurn();
    const script =
      'setsid sh -c "trap : TERM; echo \\$\\$ >tool; while :; do sleep 0.01; done" & echo $$ >mine; exec sleep 60';
    const started = await start(turn, shell(turn, script));
    const [tool] = await wordsIn(turn, 'tool');
    await wordsIn(turn, 'mine');
    const { killed, left } = await endTurn(turn.dir, turn.marker, { graceMs: 100 });
    expect([killed > 0, left]).toStrictEqual([true, 0]);
    expect(await awake(started.exited)).toStrictEqual(exited(143));
    expect(await isTurnAlive(turn.dir, turn.marker)).toBe(false);
    expect((await processEntry(Number(tool)))?.zombie ?? true).toBe(true);
  });

  test('finds them after the command has exited', async () => {
    const turn = newTurn();
    const script = 'setsid sh -c "echo \\$\\$ >tool; exec sleep 60" & until [ -s tool ]; do sleep 0.01; done';
    expect(await run(turn, shell(turn, script))).toStrictEqual(exited(0));
    const [tool] = await wordsIn(turn, 'tool');
    const found = (await findTurnProcesses(turn.dir, turn.marker)).map(({ pid }) => `${pid}`);
    expect(found).toStrictEqual([tool]);
    expect(await endTurn(turn.dir, turn.marker, PATIENT)).toStrictEqual(NOBODY);
    expect(await findTurnProcesses(turn.dir, turn.marker)).toStrictEqual([]);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(exited(0));
  });

  test('finds a process of the group that cleared its environment', async () => {
    const turn = newTurn();
    const started = await start(turn, shell(turn, 'exec env -i PATH="$PATH" sh -c "echo \\$\\$ >mine; exec sleep 60"'));
    await wordsIn(turn, 'mine');
    expect(await endTurn(turn.dir, turn.marker, PATIENT)).toStrictEqual(NOBODY);
    expect(await awake(started.exited)).toStrictEqual(exited(143));
  });

  test('finds processes that start meanwhile', async () => {
    const turn = newTurn();
    const script = 'trap "setsid sleep 60 & exit 0" TERM; echo $$ >mine; while :; do sleep 0.01; done';
    const started = await start(turn, shell(turn, script));
    await wordsIn(turn, 'mine');
    expect(await endTurn(turn.dir, turn.marker, PATIENT)).toStrictEqual(NOBODY);
    expect(await awake(started.exited)).toStrictEqual(exited(0));
    expect(await isTurnAlive(turn.dir, turn.marker)).toBe(false);
  });

  test('ends a command whose wrapper was killed', async () => {
    const turn = newTurn();
    const started = await start(turn, shell(turn, 'echo $$ >mine; exec sleep 60'));
    await wordsIn(turn, 'mine');
    process.kill(started.pid, 'SIGKILL');
    await eventually('the end of the wrapper', async () => (await processEntry(started.pid)) === undefined);
    expect(await endTurn(turn.dir, turn.marker, PATIENT)).toStrictEqual(NOBODY);
    expect(await awake(started.exited)).toStrictEqual({ kind: 'died' });
  });

  test.each(['sh', '/bin/sh'])('leaves nothing of %s behind right after the start', async (file) => {
    for (let round = 0; round < 20; round++) {
      const turn = newTurn();
      const started = await start(turn, { ...shell(turn, 'exec sleep 60'), file });
      await endTurn(turn.dir, turn.marker, PATIENT);
      await awake(started.exited);
      expect(await isTurnAlive(turn.dir, turn.marker)).toBe(false);
    }
  });

  test('does not affect other turns', async () => {
    const [turn, neighbour] = [newTurn(), newTurn()];
    const [first, second] = [
      await start(turn, shell(turn, 'exec sleep 60')),
      await start(neighbour, shell(neighbour, WAIT_FOR_GO)),
    ];
    await endTurn(turn.dir, turn.marker, { graceMs: 0 });
    await awake(first.exited);
    expect(await findCommand(neighbour.dir, neighbour.marker)).toStrictEqual({ kind: 'alive' });
    go(neighbour);
    expect(await awake(second.exited)).toStrictEqual(exited(0));
  });

  test('does nothing if nothing runs', async () => {
    const turn = newTurn();
    expect(await endTurn(turn.dir, turn.marker, PATIENT)).toStrictEqual(NOBODY);
  });
});

test('a whole run is ended by its prefix, including turns and tools that ignore signals', async () => {
  const script = 'trap "" TERM; setsid sleep 60 & echo $$ >mine; while :; do sleep 0.01; done';
  const started = [];
  for (const turn of [newTurn(), newTurn(), newTurn()]) {
    started.push(await start(turn, shell(turn, script)));
    await wordsIn(turn, 'mine');
  }
  const { killed, left } = await endMarked(turns.prefix(), { graceMs: 20 });
  expect([killed >= 3, left]).toStrictEqual([true, 0]);
  for (const each of started) expect(await awake(each.exited)).toStrictEqual(exited(137));
});
