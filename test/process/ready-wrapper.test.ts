import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { MARKER_VARIABLE, type ProcessCommand, type ProcessExit } from '../../src/process/command.ts';
import { endTurn } from '../../src/process/end.ts';
import { findCommand } from '../../src/process/find.ts';
import { findMarkedProcesses, isTurnAlive } from '../../src/process/marker.ts';
import { CommandStarter } from '../../src/process/ready-wrapper.ts';
import { turnFiles } from '../../src/process/turn-files.ts';
import { lineForWrapper, wrapLater } from '../../src/process/wrapper.ts';
import { compileRoom } from './compiled.ts';
import { awake, eventually, go, type Turn, textOf, useTurns, WAIT_FOR_GO, wordsIn } from './turns.ts';

const turns = useTurns();
const { newTurn, folder } = turns;
const { PATH = '' } = process.env;

/** Only what has a slash and no input is run by a wrapper that waits. */
const bash = ({ dir, marker }: Turn, script: string, ...args: string[]): ProcessCommand => ({
  file: '/bin/bash',
  args: ['-c', script, 'bash', ...args],
  cwd: dir,
  input: 'none',
  env: { PATH, [MARKER_VARIABLE]: marker },
});

/** The marker of the run that all turns of a test belong to. */
const runMarker = (): string => turns.prefix().slice(0, -1);

const waiting = async (): Promise<readonly number[]> =>
  (await findMarkedProcesses(`${runMarker()}//`)).map(({ pid }) => pid);

/** A starter whose wrapper waits: it is made when two commands have come one after the other. */
async function newStarter(): Promise<CommandStarter> {
  const starter = new CommandStarter(runMarker());
  for (const turn of [newTurn(), newTurn()]) await run(starter, turn, bash(turn, 'exit 0'));
  await eventually('a wrapper that waits', async () => (await waiting()).length === 1);
  return starter;
}

async function run(starter: CommandStarter, turn: Turn, command: ProcessCommand): Promise<ProcessExit> {
  const started = await starter.start(turn.dir, command);
  if (started.kind !== 'started') throw new Error(started.message);
  return awake(started.exited);
}

const exited = (code: number) => ({ kind: 'exited', code }) as const;
const saidBy = ({ dir }: Turn): string => textOf(turnFiles(dir).stdout);

describe('a wrapper that waits', () => {
  test('runs the next command, in a session of its own and with the marker of its turn', async () => {
    const starter = await newStarter();
    const [ready] = await waiting();
    const turn = newTurn();
    const script = `cut -d' ' -f 4-6 /proc/$$/stat; tr '\\0' '\\n' </proc/$$/environ | grep RAYMOND`;
    expect(await run(starter, turn, bash(turn, script))).toStrictEqual(exited(0));
    expect(saidBy(turn)).toBe(`${ready} ${ready} ${ready}\n${MARKER_VARIABLE}=${turn.marker}\n`);
    starter.close();
  });

  test.each([
    ['an exit code', 'exit 42', 42],
    ['a signal', 'kill -TERM $$', 143],
    ['a signal to the group', 'kill -INT 0; sleep 60', 130],
    ['an input', 'cat; exit 3', 3],
    ['that it is not handed on', '[ -e /proc/$$/fd/3 ] || [ -e /proc/$$/fd/9 ] || exit 5', 5],
  ])('records %s', async (_, script, code) => {
    const starter = await newStarter();
    const turn = newTurn();
    expect(await run(starter, turn, bash(turn, script))).toStrictEqual(exited(code));
    expect(textOf(turnFiles(turn.dir).started)).toMatch(new RegExp(`^\\d+ \\d+\\n${code}\\n$`));
    const { stdout, stderr } = turnFiles(turn.dir);
    expect([stdout, stderr].map((path) => statSync(path).mode & 0o777)).toStrictEqual([0o600, 0o600]);
    starter.close();
  });

  test('passes on what differs from the command before: folder, words, and variables that came, changed and went', async () => {
    const starter = new CommandStarter(runMarker());
    const env = (turn: Turn, own: Record<string, string>) => ({
      PATH,
      IFS: 'x',
      [MARKER_VARIABLE]: turn.marker,
      ...own,
    });
    const print = 'tr "\\0" "\\n" </proc/$$/environ; printf "%s," "$@"; pwd';
    for (const own of [{ A: '1', B: '2' }, { A: '1', B: '2' }, { B: `it's $HOME "\\`, C: '' }, { C: 'x' }]) {
      const turn = newTurn();
      const cwd = join(turn.dir, `a  b'c"$d`);
      mkdirSync(cwd);
      const command = { ...bash(turn, print, `'`, 'a b', String(Object.keys(own))), cwd, env: env(turn, own) };
      expect(await run(starter, turn, command)).toStrictEqual(exited(0));
      const lines = saidBy(turn)
        .split('\n')
        .filter((line) => !/^(_|SHLVL|PWD)=/.test(line));
      const expected = Object.entries(command.env).map(([name, value]) => `${name}=${value}`);
      expect(lines.sort()).toStrictEqual([...expected, `',a b,${Object.keys(own)},${cwd}`, ''].sort());
      await eventually('the next one', async () => (await waiting()).length === 1 || own.A === '1');
    }
    starter.close();
  });

  test('leaves a command that it cannot be told to a new one', async () => {
    const starter = await newStarter();
    const [ready] = await waiting();
    const turn = newTurn();
    const env = {
      PATH,
      [MARKER_VARIABLE]: turn.marker,
      TEXT: 'two\nlines ä',
      'odd-name': 'x',
      LONG: 'y'.repeat(5_000),
    };
    const command = { ...bash(turn, 'echo $PPID "$TEXT" "${#LONG}"'), env };
    expect(await run(starter, turn, command)).toStrictEqual(exited(0));
    expect(saidBy(turn)).toMatch(/^\d+ two\nlines ä 5000\n$/);
    expect(saidBy(turn)).not.toContain(`${ready} `);
    starter.close();
  });

  test('is gone after a while without a command, and when it is closed', async () => {
    const starter = await newStarter();
    await eventually('its end', async () => (await waiting()).length === 0);
    const turn = newTurn();
    expect(await run(starter, turn, bash(turn, 'exit 0'))).toStrictEqual(exited(0));
    expect(await waiting()).toStrictEqual([]);
    (await newStarter()).close();
    await eventually('its end', async () => (await waiting()).length === 0);
    starter.close();
  });

  test('that was killed leaves its command to a new one, which runs it once', async () => {
    const starter = await newStarter();
    const [ready = 0] = await waiting();
    process.kill(ready, 'SIGSTOP');
    const turn = newTurn();
    const ended = run(starter, turn, bash(turn, 'echo ran; exit 4'));
    process.kill(ready, 'SIGKILL');
    expect(await ended).toStrictEqual(exited(4));
    expect(saidBy(turn)).toBe('ran\n');
    starter.close();
  });

  test('does not run a command that was ended before it began', async () => {
    const starter = await newStarter();
    const [ready = 0] = await waiting();
    process.kill(ready, 'SIGSTOP');
    const turn = newTurn();
    const started = await starter.start(turn.dir, bash(turn, 'echo ran; sleep 60'));
    expect(await endTurn(turn.dir, turn.marker, { graceMs: 1_000 })).toStrictEqual({ killed: 0, left: 0 });
    process.kill(ready, 'SIGCONT');
    expect(started.kind === 'started' && (await awake(started.exited))).toStrictEqual({ kind: 'died' });
    expect(saidBy(turn)).toBe('');
    starter.close();
  });

  test.each([0, 1, 2, 5])('has its command ended that began %i ms ago', async (ms) => {
    const starter = await newStarter();
    const turn = newTurn();
    const started = await starter.start(turn.dir, bash(turn, 'exec sleep 60'));
    await sleep(ms);
    expect((await endTurn(turn.dir, turn.marker, { graceMs: 5_000 })).left).toBe(0);
    const exit = started.kind === 'started' ? await awake(started.exited) : null;
    expect([{ kind: 'died' }, exited(143)]).toContainEqual(exit);
    starter.close();
  });

  test('leaks no file descriptor', async () => {
    const starter = await newStarter();
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = open();
    for (let count = 0; count < 50; count += 1) {
      const turn = newTurn();
      await run(starter, turn, bash(turn, 'exit 0'));
    }
    starter.close();
    await eventually('as few as before', () => open() <= before);
  });
});

describe('when the process that started it was killed', () => {
  /** Runs three commands in another process, which is killed right after the start of the third. */
  async function startAndDie(last: Turn, script: string, beforeLast = ''): Promise<void> {
    const room = compileRoom(folder());
    const code = `const { CommandStarter } = await import(process.argv[1]);
      const { readFileSync } = await import('node:fs');
      const [marker, ...turns] = JSON.parse(process.argv[2]);
      const starter = new CommandStarter(marker);
      setInterval(() => {}, 1000);
      for (const [index, { dir, command }] of turns.entries()) {
        if (index === 2) { ${beforeLast} }
        const { exited } = await starter.start(dir, command);
        if (index < 2) { await exited; await new Promise((done) => setTimeout(done, 50)); }
      }
      process.kill(process.pid, 'SIGKILL');`;
    const first = [newTurn(), newTurn()].map((turn) => ({ dir: turn.dir, command: bash(turn, 'exit 0') }));
    const words = JSON.stringify([runMarker(), ...first, { dir: last.dir, command: bash(last, script) }]);
    const args = ['--input-type=module', '-e', code, join(room, 'ready-wrapper.js'), words];
    const starter = spawn(process.execPath, args, { stdio: 'ignore' });
    expect(await new Promise((resolve) => starter.once('exit', (_, name) => resolve(name)))).toBe('SIGKILL');
  }

  test('the command continues, is found alive and records its exit; nothing waits any more', async () => {
    const turn = newTurn();
    await startAndDie(turn, `${WAIT_FOR_GO}; exit 9`);
    await wordsIn(turn, 'started');
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual({ kind: 'alive' });
    const [wrapper] = await wordsIn(turn, 'started');
    expect(await waiting()).toStrictEqual([Number(wrapper)]);
    go(turn);
    await eventually('its exit', async () => (await findCommand(turn.dir, turn.marker)).kind === 'exited');
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(exited(9));
  });

  test('the command can be ended with all that it started, also what cleared its environment', async () => {
    const turn = newTurn();
    await startAndDie(turn, `env -i /bin/sleep 60 & setsid /bin/sleep 60 & echo up >up; wait`);
    await wordsIn(turn, 'up');
    expect((await endTurn(turn.dir, turn.marker, { graceMs: 2_000 })).left).toBe(0);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(exited(143));
  });

  test('a wrapper that has its command, but has not begun, never runs it once that is known', async () => {
    const turn = newTurn();
    const stop = `const children = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ');
      for (const pid of children) process.kill(Number(pid), 'SIGSTOP');`;
    await startAndDie(turn, 'echo ran', stop);
    const [wrapper = 0] = await waiting();
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual({ kind: 'never_started' });
    process.kill(wrapper, 'SIGCONT');
    await eventually('its end', async () => (await waiting()).length === 0);
    expect(saidBy(turn)).toBe('');
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual({ kind: 'never_started' });
  });

  test.each(['/bin/sh', '/bin/bash'])('runs nothing if its line is not whole (%s)', async (shell) => {
    const turn = newTurn();
    const command = bash(turn, 'echo ran');
    const likely = { ...command, args: ['-c', 'exit 0'], env: { PATH, OTHER: '1', [MARKER_VARIABLE]: '' } };
    const wrapper = wrapLater(likely);
    const line = lineForWrapper(wrapper, { dir: turn.dir, command, start: '1' }) ?? '';
    const { args, env, script } = wrapper;
    const tell = (text: string): Promise<unknown> => {
      const child = spawn(shell, args, { env, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
      child.stdin.on('error', () => {});
      child.stdin.end(`${script}${text}`);
      return new Promise((resolve) => child.once('exit', resolve));
    };
    const last = line.lastIndexOf(' || exit 0') - 1;
    const cuts = Array.from({ length: last + 1 }, (_, at) => at).filter((at) => line[at] === ' ' || at > last - 26);
    await Promise.all(cuts.map((at) => tell(line.slice(0, at))));
    await tell(script.slice(0, -20));
    expect(readdirSync(turn.dir).filter((name) => name === 'started')).toStrictEqual([]);
    await tell(`${line}\n`);
    expect(saidBy(turn)).toBe('ran\n');
  });

  test('a claim without a record is alive as long as a wrapper may be about to complete it', async () => {
    const [turn, other] = [newTurn(), newTurn()];
    writeFileSync(turnFiles(turn.dir).started, '');
    const likely = { ...bash(turn, 'exit 0'), env: { PATH, [MARKER_VARIABLE]: `${runMarker()}//another` } };
    const wrapper = wrapLater(likely);
    const child = spawn(wrapper.file, wrapper.args, {
      env: wrapper.env,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.write(wrapper.script);
    await eventually('the wrapper', async () => (await waiting()).length === 1);
    expect(await isTurnAlive(turn.dir, turn.marker)).toBe(true);
    // With a command it is busy, and so it is not the one.
    const line = lineForWrapper(wrapper, { dir: other.dir, command: bash(other, WAIT_FOR_GO), start: '1' });
    child.stdin.end(`${line}\n`);
    await eventually('its command', async () => (await findMarkedProcesses(other.marker)).length > 0);
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual({ kind: 'died' });
    go(other);
    await ended;
    rmSync(turnFiles(turn.dir).started);
  });

  test('our own wrapper that waits says nothing about a claim without a record', async () => {
    const starter = await newStarter();
    const turn = newTurn();
    writeFileSync(turnFiles(turn.dir).started, '');
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual({ kind: 'died' });
    starter.close();
  });
});
