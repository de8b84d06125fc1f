import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endTurn } from '../../src/process/end.ts';
import { findCommand, waitForEnd } from '../../src/process/find.ts';
import { findMarkedProcesses, isTurnAlive } from '../../src/process/marker.ts';
import { processEntry } from '../../src/process/process-table.ts';
import { turnFiles } from '../../src/process/turn-files.ts';
import { compileRoom } from './compiled.ts';
import { awake, eventually, go, run, shell, signal, start, textOf, useTurns, WAIT_FOR_GO, wordsIn } from './turns.ts';

const turns = useTurns();
const { newTurn, folder } = turns;
const DIED = { kind: 'died' } as const;
const ALIVE = { kind: 'alive' } as const;
const NEVER = { kind: 'never_started' } as const;

describe('a command whose starter was killed', () => {
  test('continues, is found alive, can be followed, and records its exit', async () => {
    const turn = newTurn('from the dead');
    const room = compileRoom(folder());
    const script = `const { startCommand } = await import(process.argv[1]);
      await startCommand(process.argv[2], JSON.parse(process.argv[3]));
      process.kill(process.pid, 'SIGKILL');`;
    const command = shell(turn, `cat; ${WAIT_FOR_GO}; echo; echo done; exit 9`);
    const args = ['--input-type=module', '-e', script, join(room, 'start.js'), turn.dir, JSON.stringify(command)];
    const starter = spawn(process.execPath, args, { stdio: 'ignore' });
    const how = await new Promise((resolve) => starter.once('exit', (_, name) => resolve(name)));
    expect(how).toBe('SIGKILL');

    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(ALIVE);
    const end = waitForEnd(turn.dir, turn.marker);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(ALIVE);
    go(turn);
    expect(await end).toStrictEqual({ kind: 'exited', code: 9 });
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual({ kind: 'exited', code: 9 });
    expect(textOf(turnFiles(turn.dir).stdout)).toBe('from the dead\ndone\n');
  });

  test('does not prevent its starter from exiting', async () => {
    const turn = newTurn();
    const room = compileRoom(folder());
    const script = `const { startCommand } = await import(process.argv[1]);
      await startCommand(process.argv[2], JSON.parse(process.argv[3]));`;
    const command = JSON.stringify(shell(turn, `${WAIT_FOR_GO}; exit 2`));
    const args = ['--input-type=module', '-e', script, join(room, 'start.js'), turn.dir, command];
    const starter = spawn(process.execPath, args, { stdio: 'ignore' });
    expect(await new Promise((resolve) => starter.once('exit', resolve))).toBe(0);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(ALIVE);
    go(turn);
    expect(await waitForEnd(turn.dir, turn.marker)).toStrictEqual({ kind: 'exited', code: 2 });
  });
});

describe('when only the wrapper is killed', () => {
  test('the turn is alive as long as its command, and has died then', async () => {
    const turn = newTurn();
    const { pid, exited } = await start(turn, shell(turn, `echo $$ >mine; ${WAIT_FOR_GO}; echo late`));
    await wordsIn(turn, 'mine');
    process.kill(pid, 'SIGKILL');
    await eventually('the end of the wrapper', async () => (await processEntry(pid)) === undefined);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(ALIVE);
    go(turn);
    expect(await awake(exited)).toStrictEqual(DIED);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(DIED);
    expect(textOf(turnFiles(turn.dir).stdout)).toBe('late\n');
  });

  test('a command that cleared its environment is not ours, because its group proves nothing any more', async () => {
    const turn = newTurn();
    const { pid, exited } = await start(turn, shell(turn, `exec env -i PATH="$PATH" sh -c '${hidden}'`));
    const [command] = await wordsIn(turn, 'mine');
    expect(await isTurnAlive(turn.dir, turn.marker)).toBe(true);
    process.kill(pid, 'SIGKILL');
    expect(await awake(exited)).toStrictEqual(DIED);
    signal(command, 'SIGKILL');
    await eventually('the end of the command', async () => gone(await processEntry(Number(command))));
  });
});

const hidden = `echo $$ >mine; ${WAIT_FOR_GO}`;
const gone = (entry: { zombie: boolean } | undefined) => entry === undefined || entry.zombie;

test('a killed command has recorded 128 + n', async () => {
  const turn = newTurn();
  const { exited } = await start(turn, shell(turn, 'echo $$ >mine; exec sleep 60'));
  const [command] = await wordsIn(turn, 'mine');
  signal(command, 'SIGKILL');
  expect(await awake(exited)).toStrictEqual({ kind: 'exited', code: 137 });
});

describe('a turn that never started', () => {
  test('is found as such every time, and cannot start later', async () => {
    const turn = newTurn();
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(NEVER);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(NEVER);
    expect(await run(turn, shell(turn, 'echo late'))).toStrictEqual(DIED);
    expect(textOf(turnFiles(turn.dir).stdout)).toBe('');
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(NEVER);
    expect(readdirSync(turn.dir).sort()).toStrictEqual(['started', 'stderr', 'stdin', 'stdout']);
  });

  test('either starts or is found as such, if both happen at once', async () => {
    for (let round = 0; round < 30; round++) {
      const turn = newTurn();
      const [started, found] = await Promise.all([
        start(turn, shell(turn, 'echo ran')),
        findCommand(turn.dir, turn.marker),
      ]);
      const exit = await awake(started.exited);
      const ran = textOf(turnFiles(turn.dir).stdout) === 'ran\n';
      expect([found.kind === 'never_started', exit.kind === 'died']).toStrictEqual([!ran, !ran]);
      expect(found.kind).not.toBe('died');
    }
  });
});

describe('the record', () => {
  test.each(['', '1', '12'])('with an incomplete exit %j of a turn that is gone means that it died', async (torn) => {
    const turn = newTurn();
    writeFileSync(turnFiles(turn.dir).started, `1 1\n${torn}`);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(DIED);
    expect(await waitForEnd(turn.dir, turn.marker)).toStrictEqual(DIED);
  });

  test.each(['', '12', '12 3'])('with incomplete content %j means that the command may have run', async (torn) => {
    const turn = newTurn();
    writeFileSync(turnFiles(turn.dir).started, torn);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(DIED);
    expect(await run(turn, shell(turn, 'echo again'))).toStrictEqual(DIED);
    expect([textOf(turnFiles(turn.dir).started), textOf(turnFiles(turn.dir).stdout)]).toStrictEqual([torn, '']);
  });

  test('with a reused pid is not the turn, and the other process is not touched', async () => {
    const [turn, other] = [newTurn(), newTurn()];
    const { pid, exited } = await start(other, shell(other, WAIT_FOR_GO));
    await wordsIn(other, 'started');
    const { start: startTime } = (await processEntry(pid)) ?? {};
    // The same number with another start time; then even with the right one, as it could be after a reboot.
    for (const time of [Number(startTime) - 1, startTime, '']) {
      writeFileSync(turnFiles(turn.dir).started, `${pid} ${time}\n`);
      expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(DIED);
      expect(await endTurn(turn.dir, turn.marker, { graceMs: 0 })).toStrictEqual({ killed: 0, left: 0 });
    }
    expect(await findCommand(other.dir, other.marker)).toStrictEqual(ALIVE);
    go(other);
    expect(await awake(exited)).toStrictEqual({ kind: 'exited', code: 0 });
  });

  test('has the pid of the wrapper, and no start time once a wrapper has shown its environment', async () => {
    const turn = newTurn();
    const { pid, exited } = await start(turn, shell(turn, WAIT_FOR_GO));
    expect(await wordsIn(turn, 'started')).toStrictEqual([`${pid}`]);
    const entry = await processEntry(pid);
    expect([entry?.wrapper, entry?.marker]).toStrictEqual([true, turn.marker]);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(ALIVE);
    go(turn);
    await awake(exited);
  });
});

describe('waiting', () => {
  test('can be aborted', async () => {
    const turn = newTurn();
    const { exited } = await start(turn, shell(turn, WAIT_FOR_GO));
    const abort = new AbortController();
    const waiting = waitForEnd(turn.dir, turn.marker, abort.signal);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(waitForEnd(turn.dir, turn.marker, abort.signal)).rejects.toThrow('enough');
    go(turn);
    await awake(exited);
  });

  test('notices the end of a wrapper that is not a child', async () => {
    const turn = newTurn();
    const { pid } = await start(turn, shell(turn, 'exec sleep 60'));
    await wordsIn(turn, 'started');
    const waiting = waitForEnd(turn.dir, turn.marker);
    process.kill(-pid, 'SIGKILL');
    expect(await waiting).toStrictEqual(DIED);
  });
});

describe('markers', () => {
  test('find a whole run and not another with a similar id', async () => {
    const [one, two] = [newTurn(), newTurn()];
    const neighbour = { ...newTurn(), marker: `${turns.prefix().slice(0, -1)}0/1` };
    const started = [];
    for (const turn of [one, two, neighbour]) started.push(await start(turn, shell(turn, WAIT_FOR_GO)));
    const found = new Set((await findMarkedProcesses(turns.prefix())).map(({ marker }) => marker));
    expect(found).toStrictEqual(new Set([one.marker, two.marker]));
    for (const turn of [one, two, neighbour]) go(turn);
    for (const { exited } of started) await awake(exited);
  });

  test('are ignored on the process itself', async () => {
    const turn = newTurn();
    const room = compileRoom(folder());
    const script = `const { findMarkedProcesses } = await import(process.argv[1]);
      process.exitCode = (await findMarkedProcesses(process.argv[2])).length;`;
    const args = ['--input-type=module', '-e', script, join(room, 'marker.js'), turn.marker];
    const env = { ...process.env, RAYMOND_TURN: turn.marker };
    const self = spawn(process.execPath, args, { env, stdio: 'inherit' });
    expect(await new Promise((resolve) => self.once('exit', resolve))).toBe(0);
  });

  test('an empty prefix is refused', () => {
    expect(() => findMarkedProcesses('')).toThrow('every turn of every run');
  });
});
