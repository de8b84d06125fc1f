import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MARKER_VARIABLE, type ProcessCommand } from '../../src/process/command.ts';
import { turnFiles } from '../../src/process/turn-files.ts';
import { wrapCommand } from '../../src/process/wrapper.ts';
import { go, shell, type Turn, textOf, useTurns, WAIT_FOR_GO, wordsIn } from './turns.ts';

const { newTurn, folder } = useTurns();

/** Bash is `sh` on macOS and elsewhere; called so, it keeps to POSIX. */
const SHELLS = ['/bin/sh', '/bin/bash'];
/** What has a slash is started in another way than what is looked up. */
const NAMES = ['sh', '/bin/sh'];
const BOTH = SHELLS.flatMap((by) => NAMES.map((file) => ({ by, file })));

/** Runs a wrapper to its end under the shell that is asked for; its exit is of no interest, for its record tells. */
async function wrap(by: string, { dir }: Turn, command: ProcessCommand): Promise<string> {
  const { stdin, stdout, stderr, started } = turnFiles(dir);
  const { args, env } = wrapCommand(command);
  const streams = [openSync(stdin, 'r'), openSync(stdout, 'a'), openSync(stderr, 'a')];
  const child = spawn(by, args, { argv0: 'sh', cwd: dir, env, stdio: streams, detached: true });
  for (const stream of streams) closeSync(stream);
  await once(child, 'exit');
  return textOf(started);
}

const saidBy = (turn: Turn): string => textOf(turnFiles(turn.dir).stdout);
const complaintsOf = (turn: Turn): string => textOf(turnFiles(turn.dir).stderr);

describe.each(BOTH)('the wrapper in $by, around $file', ({ by, file }) => {
  const command = (turn: Turn, script: string): ProcessCommand => ({ ...shell(turn, script), file });

  test('records its identity before the command starts, and the exit when it ends', async () => {
    const turn = newTurn('some input');
    const record = await wrap(by, turn, command(turn, 'cat; cat started; exit 7'));
    expect(record).toMatch(/^\d+ \d+\n7\n$/);
    expect(saidBy(turn)).toBe(`some input${record.slice(0, -2)}`);
  });

  test.each([
    ['TERM', 143],
    ['INT', 130],
    ['HUP', 129],
    ['KILL', 137],
  ])('survives SIG%s, and the command dies of it', async (name, code) => {
    const turn = newTurn();
    const whom = name === 'KILL' ? '$$' : '0';
    const record = await wrap(by, turn, command(turn, `kill -${name} ${whom}; exec sleep 60`));
    expect(record.split('\n')[1]).toBe(`${code}`);
  });

  test('survives a signal that the command survives', async () => {
    const turn = newTurn();
    const record = await wrap(by, turn, command(turn, 'trap "" TERM INT; kill -TERM 0; kill -INT 0; exit 5'));
    expect(record.split('\n')[1]).toBe('5');
  });

  test('passes on the three streams, but neither its record nor an ignored signal', async () => {
    const turn = newTurn();
    await wrap(by, turn, command(turn, 'exec ls -l /proc/self/fd'));
    const open = ['stdin', 'stdout', 'stderr', 'started'].filter((name) => saidBy(turn).includes(join(turn.dir, name)));
    expect(open).toStrictEqual(['stdin', 'stdout', 'stderr']);
    const other = newTurn();
    await wrap(by, other, command(other, 'exec grep SigIgn /proc/self/status'));
    expect(saidBy(other)).toMatch(/^SigIgn:\s0+$/m);
  });

  test('changes no variables, not even those with names that it could use itself', async () => {
    const turn = newTurn();
    const own = { x: 'mine', start: '5', RAYMOND_WRAPPER_START: '6', RAYMOND_WRAPPER_ODD_0: '7', 'a-b': '8', IFS: '9' };
    const { PATH = '' } = process.env;
    const env = { PATH, ...own, RAYMOND_WRAPPER: '1', [MARKER_VARIABLE]: turn.marker };
    await wrap(by, turn, { ...command(turn, 'exec cat /proc/self/environ'), env });
    const got = new Map(
      saidBy(turn)
        .split('\0')
        .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
    // The shell that is the command drops or fills some of them; what it cannot know it has from its caller.
    const { 'a-b': _, IFS: __, ...seen } = own;
    expect(Object.keys(seen).map((name) => got.get(name))).toStrictEqual(Object.values(seen));
    expect(['RAYMOND_WRAPPER', 'OLDPWD'].filter((name) => got.has(name))).toStrictEqual([]);
  });

  test('exits quietly if the turn is taken', async () => {
    const turn = newTurn();
    const first = await wrap(by, turn, command(turn, 'echo ran'));
    expect(await wrap(by, turn, command(turn, 'echo ran again'))).toBe(first);
    expect([saidBy(turn), complaintsOf(turn)]).toStrictEqual(['ran\n', '']);
  });

  test('records 126 if there is no working directory', async () => {
    const turn = newTurn();
    const record = await wrap(by, turn, { ...command(turn, 'echo ran'), cwd: '/no/such/folder' });
    expect([record.split('\n')[1], saidBy(turn)]).toStrictEqual(['126', '']);
    expect(complaintsOf(turn)).toContain('/no/such/folder');
  });

  test('records the exit in a folder that was renamed meanwhile', async () => {
    const [turn, cwd] = [newTurn(), folder()];
    const over = wrap(by, turn, { ...command(turn, `${WAIT_FOR_GO}; exit 3`), cwd });
    await wordsIn(turn, 'started');
    const moved = join(folder(), 'moved');
    renameSync(turn.dir, moved);
    go({ ...turn, dir: cwd });
    await over;
    expect(textOf(turnFiles(moved).started).split('\n')[1]).toBe('3');
  });
});

describe.each(SHELLS)('a command that cannot run, in %s', (by) => {
  test.each([
    ['no-such-command', 127],
    ['/no/such/command', 127],
    ['/tmp', 126],
    ['exit', 127],
  ])('%s has %i recorded, and a reason on stderr', async (file, code) => {
    const turn = newTurn();
    const record = await wrap(by, turn, { ...shell(turn, ''), file, args: ['0'] });
    expect([record.split('\n')[1], complaintsOf(turn).includes(file)]).toStrictEqual([`${code}`, true]);
  });
});
