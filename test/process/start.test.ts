import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { MARKER_VARIABLE } from '../../src/process/command.ts';
import { findCommand } from '../../src/process/find.ts';
import { startCommand } from '../../src/process/start.ts';
import { recordedWrapper, turnFiles } from '../../src/process/turn-files.ts';
import { endOnWindows, isRunningOnWindows, removeSameNames, startOnWindows } from '../../src/process/windows.ts';
import { NEVER_RAN_STATUS, wrapCommand } from '../../src/process/wrapper.ts';
import { compileRoom } from './compiled.ts';
import { awake, run, shell, start, textOf, useTurns } from './turns.ts';

const { newTurn, folder } = useTurns();
const exited = (code: number) => ({ kind: 'exited', code }) as const;

describe('a command', () => {
  test.each([0, 1, 42, 255])('has its exit code %i recorded', async (code) => {
    const turn = newTurn();
    expect(await run(turn, shell(turn, `exit ${code}`))).toStrictEqual(exited(code));
    expect(textOf(turnFiles(turn.dir).started)).toMatch(new RegExp(`^\\d+ \\d*\\n${code}\\n$`));
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(exited(code));
  });

  test.each([
    ['KILL', 137],
    ['TERM', 143],
    ['SEGV', 139],
  ])('has 128 + n recorded if it dies of SIG%s', async (name, code) => {
    const turn = newTurn();
    expect(await run(turn, shell(turn, `kill -${name} $$`))).toStrictEqual(exited(code));
  });

  test('reads its stdin file and writes to files that only the user can read', async () => {
    const turn = newTurn('the prompt\nwith two lines');
    await run(turn, shell(turn, 'cat; echo oops >&2'));
    const { stdout, stderr } = turnFiles(turn.dir);
    expect([textOf(stdout), textOf(stderr)]).toStrictEqual(['the prompt\nwith two lines', 'oops\n']);
    expect([statSync(stdout).mode & 0o777, statSync(stderr).mode & 0o777]).toStrictEqual([0o600, 0o600]);
  });

  test('gets an empty stdin without an input, and needs no file for it', async () => {
    const turn = newTurn('not for this one');
    rmSync(turnFiles(turn.dir).stdin);
    expect(await run(turn, { ...shell(turn, 'cat; exit 6'), input: 'none' })).toStrictEqual(exited(6));
    expect([textOf(turnFiles(turn.dir).stdout), textOf(turnFiles(turn.dir).stderr)]).toStrictEqual(['', '']);
  });

  test.each([
    ['TERM', 143],
    ['INT', 130],
    ['HUP', 129],
    ['QUIT', 131],
    ['USR1', 138],
  ])('has its end recorded when SIG%s is sent to its whole group', async (name, code) => {
    const turn = newTurn();
    expect(await run(turn, shell(turn, `kill -${name} 0; sleep 60`))).toStrictEqual(exited(code));
  });

  test('inherits no ignored signal', async () => {
    const turn = newTurn();
    await run(turn, { ...shell(turn, ''), file: 'grep', args: ['SigIgn', '/proc/self/status'] });
    expect(textOf(turnFiles(turn.dir).stdout)).toMatch(/^SigIgn:\s0+$/m);
  });

  test('leads no group itself, but its wrapper does, in its own session', async () => {
    const turn = newTurn();
    const started = await start(turn, { ...shell(turn, ''), file: 'cat', args: ['/proc/self/stat'] });
    await awake(started.exited);
    const [, , , parent, group, session] = textOf(turnFiles(turn.dir).stdout).split(' ').map(Number);
    expect([parent, group, session]).toStrictEqual([started.pid, started.pid, started.pid]);
  });
});

describe('arguments and environment', () => {
  const ODD = [
    '',
    ' ',
    'a b',
    `it's "quoted"`,
    'two\nlines\n',
    '$HOME `id` $(id) \\',
    '*',
    '-n',
    '--',
    'ä€😀',
    ';&|<>',
  ];

  test('are passed unchanged', async () => {
    const turn = newTurn();
    await run(turn, shell(turn, `printf '%s\\0' "$@"`, ...ODD));
    expect(textOf(turnFiles(turn.dir).stdout).split('\0').slice(0, -1)).toStrictEqual(ODD);
  });

  test('are passed even if a shell could not use the names, or sets them itself', async () => {
    const turn = newTurn();
    const env = {
      [MARKER_VARIABLE]: turn.marker,
      PATH: process.env.PATH ?? '',
      lines: ODD.join('\n'),
      'npm_config_//host.example/:x': 'se"cret $x',
      'BASH_FUNC_f%%': '() { :; }',
      IFS: 'x',
      OPTIND: 'abc',
      PPID: '1',
    };
    await run(turn, { file: 'cat', args: ['/proc/self/environ'], cwd: turn.dir, env });
    const all = textOf(turnFiles(turn.dir).stdout).split('\0').slice(0, -1);
    // What bash, which is `sh` on some systems, cannot help adding.
    const got = all.filter((each) => !/^(_|SHLVL)=/.test(each)).sort();
    const expected = Object.entries({ ...env, PWD: turn.dir }).map(([name, value]) => `${name}=${value}`);
    expect(got).toStrictEqual(expected.sort());
  });

  test('a name of a shell built-in is the program of that name', async () => {
    const turn = newTurn();
    await run(turn, { ...shell(turn, ''), file: 'echo', args: ['--version'] });
    expect(textOf(turnFiles(turn.dir).stdout)).toContain('coreutils');
    const other = newTurn();
    expect(await run(other, { ...shell(other, ''), file: 'exit', args: ['7'] })).toStrictEqual(exited(127));
  });

  test('the working directory may have spaces and quotes in its name', async () => {
    const turn = newTurn();
    const cwd = join(turn.dir, `a  b'c"$d`);
    mkdirSync(cwd);
    await run(turn, { ...shell(turn, 'pwd'), cwd });
    expect(textOf(turnFiles(turn.dir).stdout)).toBe(`${cwd}\n`);
  });

  test('a script without an interpreter line runs in the shell', async () => {
    const turn = newTurn();
    const file = join(turn.dir, 'plain');
    writeFileSync(file, 'echo plain "$1"\n');
    chmodSync(file, 0o700);
    expect(await run(turn, { ...shell(turn, ''), file, args: ['x y'] })).toStrictEqual(exited(0));
    expect(textOf(turnFiles(turn.dir).stdout)).toBe('plain x y\n');
  });
});

describe('a command that cannot run', () => {
  test.each([
    ['is missing', { file: 'no-such-command' }, 127, 'not found'],
    ['is a folder', { file: '/tmp' }, 126, '/tmp'],
    ['has no working directory', { cwd: '/no/such/folder' }, 126, '/no/such/folder'],
  ])('because it %s has a status recorded and a reason on stderr', async (_, change, code, reason) => {
    const turn = newTurn();
    expect(await run(turn, { ...shell(turn, 'exit 0'), ...change })).toStrictEqual(exited(code));
    expect(textOf(turnFiles(turn.dir).stderr)).toContain(reason);
  });

  test('because the arguments are too long is not started, and the folder stays usable', async () => {
    const turn = newTurn();
    const long = await startCommand(turn.dir, shell(turn, 'exit 0', 'x'.repeat(3_000_000)));
    const message = 'cannot start sh: its arguments and environment are too long (E2BIG)';
    expect(long).toStrictEqual({ kind: 'not_started', message, obstacle: 'lasting' });
    expect(await run(turn, shell(turn, 'exit 3'))).toStrictEqual(exited(3));
  });

  test('because its working directory is gone is not started', async () => {
    const turn = newTurn();
    rmSync(turn.dir, { recursive: true });
    const { message } = { message: '', ...(await startCommand(turn.dir, shell(turn, 'exit 0'))) };
    expect(message).toContain('cannot start sh: ENOENT: no such file or directory');
  });

  test('because an argument holds a NUL is not started', async () => {
    const turn = newTurn();
    const { message } = { message: '', ...(await startCommand(turn.dir, shell(turn, 'a\0b'))) };
    expect(message).toContain('without null bytes');
  });

  // Root has no limit and anybody else's counts what runs already; so a process becomes nobody, who has one and runs nothing.
  test.runIf(process.getuid?.() === 0)(
    'because the system allows no more processes is not started, and may be later',
    () => {
      const turn = newTurn();
      const script = `const { startCommand } = await import(process.argv[1]);
        process.setgid(65534);
        process.setuid(65534);
        console.log(JSON.stringify(await startCommand(process.argv[2], JSON.parse(process.argv[3]))));`;
      const room = compileRoom(folder());
      for (const path of [turn.dir, join(turn.dir, '..')]) chmodSync(path, 0o777);
      const args = [join(room, 'start.js'), turn.dir, JSON.stringify(shell(turn, 'exit 0'))];
      const limited = 'ulimit -u 1; exec "$0" --input-type=module -e "$@"';
      const said = execFileSync('bash', ['-c', limited, process.execPath, script, ...args], { encoding: 'utf8' });
      const message = 'cannot start sh: the system allows no more processes (EAGAIN)';
      expect(JSON.parse(said)).toStrictEqual({ kind: 'not_started', message, obstacle: 'shortage' });
    },
  );

  // As above; here only the wrapper is limited, which therefore starts and then cannot run the command.
  test.runIf(process.getuid?.() === 0).each(['/bin/true', 'true'])(
    'whose wrapper cannot fork has never run, and is not taken for one that was killed: %s',
    async (file) => {
      const turn = newTurn();
      chmodSync(turn.dir, 0o777);
      const wrapped = wrapCommand({ file, args: [], cwd: '/', env: { PATH: process.env.PATH ?? '' } });
      const { status } = spawnSync('bash', ['-c', 'ulimit -u 1; exec "$@"', '', wrapped.file, ...wrapped.args], {
        cwd: turn.dir,
        env: wrapped.env,
        uid: 65_534,
        gid: 65_534,
      });
      expect(status).toBe(NEVER_RAN_STATUS);
      expect(textOf(turnFiles(turn.dir).started)).toMatch(/^\d+ \d+\nunable\n$/);
      expect(await findCommand(turn.dir, turn.marker)).toStrictEqual({ kind: 'never_ran' });
    },
  );

  test('a command without a marker is a bug', async () => {
    const turn = newTurn();
    await expect(startCommand(turn.dir, { ...shell(turn, ''), env: {} })).rejects.toThrow('RAYMOND_TURN');
  });
});

test('two wrappers on one folder run the command once, and both return its exit', async () => {
  const turns = Array.from({ length: 20 }, () => newTurn());
  for (const turn of turns) {
    const command = shell(turn, 'echo ran; exit 5');
    const both = await Promise.all([run(turn, command), run(turn, command)]);
    expect(both).toStrictEqual([exited(5), exited(5)]);
    expect(textOf(turnFiles(turn.dir).stdout)).toBe('ran\n');
    expect(textOf(turnFiles(turn.dir).stderr)).toBe('');
  }
});

test('a thousand quick starts leak no file descriptor', { timeout: 120_000 }, async () => {
  const open = () => readdirSync('/proc/self/fd').length;
  const once = async () => {
    const turn = newTurn();
    return run(turn, { ...shell(turn, ''), file: 'true', args: [] });
  };
  await once();
  const before = open();
  for (let round = 0; round < 50; round++) {
    const exits = await Promise.all(Array.from({ length: 20 }, once));
    expect(exits).toStrictEqual(Array.from({ length: 20 }, () => exited(0)));
  }
  expect(open()).toBeLessThanOrEqual(before);
});

describe('the Windows implementation, as far as it can be tested here', () => {
  test('records the exit of a plain child', async () => {
    const turn = newTurn('hello');
    const started = await startOnWindows(turn.dir, shell(turn, 'cat; exit 4'), turn.marker);
    expect(await awake(started.kind === 'started' ? started.exited : Promise.reject())).toStrictEqual(exited(4));
    expect(readFileSync(turnFiles(turn.dir).stdout, 'utf8')).toBe('hello');
    expect(await findCommand(turn.dir, turn.marker)).toStrictEqual(exited(4));
    expect(await startOnWindows(turn.dir, shell(turn, ''), turn.marker)).toMatchObject({ kind: 'not_started' });
  });

  test('tells by a pipe that a turn runs, and ends it through it', async () => {
    const turn = newTurn();
    const started = await startOnWindows(turn.dir, shell(turn, 'exec sleep 60'), turn.marker);
    await vi.waitUntil(() => isRunningOnWindows(turn.dir));
    expect(recordedWrapper(turn.dir)?.start).toMatch(/^\d+$/);
    expect(await isRunningOnWindows(newTurn().dir)).toBe(false);
    expect(await endOnWindows(turn.dir)).toStrictEqual({ killed: 1, left: 0 });
    const exit = await awake(started.kind === 'started' ? started.exited : Promise.reject());
    expect(exit).toStrictEqual(exited(1));
    expect(await isRunningOnWindows(turn.dir)).toBe(false);
    expect(await endOnWindows(turn.dir)).toStrictEqual({ killed: 0, left: 0 });
  });

  test('keeps a turn that is ended before its wrapper is ready from running at all', async () => {
    const turn = newTurn();
    const started = await startOnWindows(turn.dir, shell(turn, 'echo ran'), turn.marker);
    expect(await endOnWindows(turn.dir)).toStrictEqual({ killed: 0, left: 0 });
    const exit = await awake(started.kind === 'started' ? started.exited : Promise.reject());
    expect(exit).toStrictEqual({ kind: 'died' });
    expect(existsSync(turnFiles(turn.dir).stdout)).toBe(false);
  });

  test('gives a command the last of several variables whose names differ only in case', () => {
    expect(removeSameNames({ Path: 'a', temp: 'b', TEMP: 'c', x: 'd' })).toStrictEqual({
      Path: 'a',
      TEMP: 'c',
      x: 'd',
    });
  });

  test('records a missing command as 127', async () => {
    const turn = newTurn();
    const started = await startOnWindows(turn.dir, { ...shell(turn, ''), file: 'no-such' }, turn.marker);
    expect(await awake(started.kind === 'started' ? started.exited : Promise.reject())).toStrictEqual(exited(127));
    expect(textOf(turnFiles(turn.dir).stderr)).toContain('ENOENT');
  });
});
