import { chmodSync, chownSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { makePrivateFolder } from '../../src/disk/files.ts';
import { findRaymondFolder, layoutOf, resolveDebugFolder } from '../../src/disk/layout.ts';
import { asNobody, refusalOf } from '../storage/run-history.ts';
import { temporaryFolders } from '../storage/temp.ts';

const temporary = temporaryFolders();

/** The files by which git recognizes a repository. */
const REPOSITORY = { '.git/HEAD': 'ref: refs/heads/main\n', '.git/objects/x': '', '.git/refs/heads/x': '' };

describe('the .raymond folder is', () => {
  test('the nearest one up to the git root', () => {
    const root = temporary({ ...REPOSITORY, '.raymond/config.toml': '', 'a/.raymond/config.toml': '', 'a/b/c': '' });
    expect(findRaymondFolder(join(root, 'a/b'))).toBe(join(root, 'a/.raymond'));
    expect(findRaymondFolder(root)).toBe(join(root, '.raymond'));
  });

  test('created at the git root, which may have a file `.git`, and never above it', () => {
    const elsewhere = temporary(REPOSITORY);
    const root = temporary({ '.raymond/config.toml': '', 'repo/.git': `gitdir: ${elsewhere}/.git\n`, 'repo/a/b': '' });
    expect(findRaymondFolder(join(root, 'repo/a'))).toBe(join(root, 'repo/.raymond'));
  });

  test('created in the current folder, outside a repository', () => {
    const root = temporary({ 'a/b': '' });
    expect(findRaymondFolder(join(root, 'a'))).toBe(join(root, 'a/.raymond'));
  });

  test.each<[string, Record<string, string>]>([
    ['an empty folder', { '.git/x': '' }],
    ['a folder without objects', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/x': '' }],
    ['an empty file', { '.git': '' }],
    ['a file that names nothing', { '.git': 'gitdir: nowhere\n' }],
  ])('not attracted by a `.git` that is %s', (_, files) => {
    const root = temporary({ ...files, 'a/b': '' });
    expect(findRaymondFolder(join(root, 'a'))).toBe(join(root, 'a/.raymond'));
  });

  test('not looked for in or above a folder of GIT_CEILING_DIRECTORIES, unless one stands in it', () => {
    const root = temporary({ ...REPOSITORY, '.raymond/config.toml': '', 'a/b/c': '' });
    vi.stubEnv('GIT_CEILING_DIRECTORIES', `relative:${root}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(findRaymondFolder(join(root, 'a/b'))).toBe(join(root, 'a/b/.raymond'));
    expect(findRaymondFolder(root)).toBe(join(root, '.raymond'));
  });

  test("the user's own further up, outside a repository", () => {
    const root = temporary({ '.raymond/config.toml': '', 'a/b': '' });
    expect(findRaymondFolder(join(root, 'a'))).toBe(join(root, '.raymond'));
  });

  test.skipIf(process.getuid?.() !== 0)("not another user's further up (needs root to create one)", () => {
    const root = temporary({ '.raymond/config.toml': '', 'a/b': '' });
    chownSync(join(root, '.raymond'), 65534, 65534);
    expect(findRaymondFolder(join(root, 'a'))).toBe(join(root, 'a/.raymond'));
    expect(findRaymondFolder(root)).toBe(join(root, '.raymond'));
  });
});

test('every file has its path', () => {
  const layout = layoutOf('/p/.raymond');
  const turn = { agent: 'main_worker1', number: 7, state: 'REVIEW.md' };
  expect([
    layout.configFile,
    layout.stateFile('r'),
    layout.journalFile('r'),
    layout.runFolder('r'),
    layout.turnFolder('r', turn),
    layout.debugFolder('r', new Date(2026, 0, 2, 3, 4, 5).getTime()),
  ]).toStrictEqual([
    '/p/.raymond/config.toml',
    '/p/.raymond/state/r.json',
    '/p/.raymond/runs/r/journal.jsonl',
    '/p/.raymond/runs/r',
    '/p/.raymond/runs/r/turns/0007-main_worker1-REVIEW',
    '/p/.raymond/debug/r_20260102_030405',
  ]);
});

describe('a turn folder has a name that is valid on any disk', () => {
  const name = (agent: string, state: string): string =>
    basename(layoutOf('/r').turnFolder('r', { agent, number: 12345, state }));

  test('for any name of a state', () => {
    expect(name('main', 'a b/../"c"\n.md')).toBe('12345-main-a-b-..--c--');
  });

  test('for any length of agent and state, and two agents never share one', () => {
    const long = `main${'_worker1'.repeat(50)}`;
    expect(Buffer.byteLength(name(long, `${'漢'.repeat(100)}.md`))).toBeLessThan(200);
    expect(name(`${long}1`, 'A.md')).not.toBe(name(`${long}2`, 'A.md'));
  });
});

test('a run keeps its debug folder when it is resumed in another time zone', async () => {
  const root = temporary({ 'debug/r_20200101_000000/x': '', 'debug/r_20200101_000000_20210101_000000/x': '' });
  expect(await resolveDebugFolder(layoutOf(root), 'r', 0)).toBe(join(root, 'debug/r_20200101_000000'));
  expect(await resolveDebugFolder(layoutOf(root), 's', 0)).toBe(layoutOf(root).debugFolder('s', 0));
});

describe('a folder', () => {
  test('is private, and so are its newly created parents', async () => {
    const root = temporary();
    await makePrivateFolder(join(root, 'a/b/c'));
    for (const path of ['a', 'a/b', 'a/b/c']) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
  });

  test('is not changed if it exists', async () => {
    const root = temporary();
    mkdirSync(join(root, 'a'));
    chmodSync(join(root, 'a'), 0o755);
    await makePrivateFolder(join(root, 'a'));
    expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o755);
  });

  test.each(['a', 'a/b/c'])('cannot be created where a file is: the message names it (%s)', async (path) => {
    const root = temporary();
    writeFileSync(join(root, 'a'), '');
    const refusal = await refusalOf(() => makePrivateFolder(join(root, path)));
    expect(refusal.message).toBe(
      `The folder ${join(root, path)} cannot be made: there is a file where a folder should be.`,
    );
    expect(refusal.hint).toBe('Move the file away, then try again.');
    expect(refusal.exitCode).toBe(64);
  });

  test('cannot be created in a read-only place: the hint says what to do', async () => {
    const root = realpathSync(temporary());
    chmodSync(root, 0o555);
    const refusal = await refusalOf(() => asNobody(() => makePrivateFolder(join(root, '.raymond/state'))));
    expect(refusal.message).toBe(`The folder ${join(root, '.raymond/state')} cannot be made: permission was denied.`);
    expect(refusal.hint).toContain('or work in another folder');
  });

  test.runIf(process.platform === 'linux')(
    'cannot be created where the system makes none, such as in /proc',
    async () => {
      const refusal = await refusalOf(() => makePrivateFolder('/proc/self/.raymond/state'));
      expect(refusal.message).toMatch(/^The folder \/proc\/self\/.raymond\/state cannot be made: /);
      expect(refusal.hint).toMatch(/work in another folder, then try again\.$/i);
    },
  );
});
