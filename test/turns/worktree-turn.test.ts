import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { WorktreePlace } from '../../src/core/run/worktree.ts';
import { findWork } from '../../src/git/held-work.ts';
import { removeLeftWorktree } from '../../src/git/left-work.ts';
import { createWorktreeRunner } from '../../src/turns/worktree-turn.ts';
import { git } from '../git.ts';
import { newTurnContext } from './turn-context.ts';

const ENV = process.env;
const BRANCH = 'raymond/r/main_w1';

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-worktree-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

let template: string | undefined;

/** A copy of a repository with one commit: making each anew would take most of the time. */
function newRepository(): { readonly folder: string; readonly head: string } {
  template ??= makeRepository();
  const folder = newFolder();
  cpSync(template, folder, { recursive: true });
  return { folder, head: git(folder, 'rev-parse', 'HEAD') };
}

afterAll(() => {
  if (template !== undefined) rmSync(template, { recursive: true });
});

function makeRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-worktree-'));
  git(folder, 'init', '-q');
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'sub/a.txt'), 'a');
  writeFileSync(join(folder, '.gitignore'), 'worktrees\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'first');
  return folder;
}

const NEVER = new AbortController().signal;

/** The settings of git that belong to the user, and not to the repository. */
const userConfigOf = (folder: string): string => join(folder, '.git/user-config');

function setUserHook(folder: string, name: string, script: string): void {
  const hooks = join(folder, '.git/user-hooks');
  mkdirSync(hooks, { recursive: true });
  git(folder, 'config', '--file', userConfigOf(folder), 'core.hooksPath', hooks);
  writeFileSync(join(hooks, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

interface Taken {
  readonly place?: WorktreePlace | null;
  readonly cwd?: string;
  readonly isWanted?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  readonly end?: AbortSignal;
  readonly isResumed?: boolean;
  readonly isGuest?: boolean;
}

/** Takes a turn about the worktree of `main_w1` with a runner of its own. Without a place, it is to be made. */
function take(folder: string, { place = null, cwd = folder, env = ENV, end = NEVER, ...rest }: Taken = {}) {
  const { isWanted = place === null, isResumed = false, isGuest = false } = rest;
  const clock = { ...newTurnContext(folder).clock, now: () => 7 };
  const turn = { kind: 'worktree', agent: 'main_w1', state: 'W.md', isWanted, place, cwd, node: null } as const;
  const userEnv = { ...env, GIT_CONFIG_GLOBAL: userConfigOf(folder) };
  return createWorktreeRunner(newTurnContext(folder, { env: userEnv, clock, isResumed, isGuest }))(turn, end);
}

async function made(folder: string, options: Taken = {}): Promise<WorktreePlace> {
  const signal = await take(folder, options);
  if (signal?.kind !== 'worktree_made') throw new Error(JSON.stringify(signal));
  return signal.place;
}

describe('a worktree is made', () => {
  test('from the commit of its parent, and the worker begins in the same folder of it', async () => {
    const { folder, head } = newRepository();
    const path = join(folder, 'worktrees/main_w1');
    const place = { path, branch: BRANCH, base: head, repository: join(folder, '.git') };
    expect(await take(folder, { cwd: join(folder, 'sub') })).toStrictEqual({
      kind: 'worktree_made',
      at: 7,
      agent: 'main_w1',
      place,
      cwd: join(path, 'sub'),
    });
    expect(git(path, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(BRANCH);
    expect(existsSync(join(path, 'sub/a.txt'))).toBe(true);
  });

  test('only if its commit has the folder of the parent: the worker could not begin there', async () => {
    const { folder } = newRepository();
    const cwd = join(folder, 'sub/new');
    mkdirSync(cwd);
    expect(await take(folder, { cwd })).toMatchObject({
      kind: 'worktree_refused',
      message: `no worktree can be made for it: ${cwd} is not committed: commit a file in it first`,
    });
    expect(existsSync(join(folder, 'worktrees/main_w1'))).toBe(false);
  });

  test.each(['a\nb', 'a\nworktree x\n\nb', '-n "a\tb"', ' a ', 'ä\\\\b'])(
    'also in a folder called %j: again, opened again, looked at and removed',
    async (name) => {
      const { folder: plain } = newRepository();
      const folder = join(newFolder(), name);
      renameSync(plain, folder);
      const place = await made(folder, { cwd: join(folder, 'sub') });
      expect([place.repository, await made(folder)]).toStrictEqual([join(folder, '.git'), place]);
      git(place.path, 'commit', '-qm', 'one', '--allow-empty');
      expect(await take(folder, { place })).toMatchObject({ content: { kept: true, commits: 1 } });
      expect(await take(folder, { place, isWanted: true })).toMatchObject({ kind: 'worktree_made', place });
      const options = { env: ENV };
      expect(await findWork(place, options)).toStrictEqual({ commits: 1, dirty: false });
      git(place.path, 'reset', '-q', '--hard', place.base);
      expect(await removeLeftWorktree(place, options)).toBe(null);
      expect([existsSync(place.path), git(folder, 'branch', '--list', 'raymond/*')]).toStrictEqual([false, '']);
    },
  );

  test.each<[string, (folder: string) => void]>([
    ['it was made and not reported', () => {}],
    ['its folder was lost', (folder) => rmSync(join(folder, 'worktrees'), { recursive: true })],
    [
      'its files were not all there',
      (folder) => {
        rmSync(join(folder, 'worktrees/main_w1/sub'), { recursive: true });
        git(folder, 'worktree', 'lock', '--reason', 'initializing', 'worktrees/main_w1');
      },
    ],
    ['only its branch was there', (folder) => git(folder, 'worktree', 'remove', '--force', 'worktrees/main_w1')],
  ])('again after a crash: %s', async (_, crash) => {
    const { folder } = newRepository();
    const before = await made(folder);
    crash(folder);
    const after = await made(folder);
    expect(after).toStrictEqual(before);
    expect(git(after.path, 'status', '--porcelain')).toBe('');
    expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(2);
  });

  test.each<[string, (folder: string) => void]>([
    ['the index of its parent is locked', (folder) => writeFileSync(join(folder, '.git/index.lock'), '')],
    ['its parent is on no branch', (folder) => git(folder, 'switch', '-q', '--detach')],
    [
      'its parent is in the middle of a rebase',
      (folder) => {
        writeFileSync(join(folder, 'sub/a.txt'), 'b');
        git(folder, 'commit', '-qam', 'second');
        git(folder, '-c', 'sequence.editor=sed -i s/pick/edit/', 'rebase', '-qi', 'HEAD~1');
        expect(existsSync(join(folder, '.git/rebase-merge'))).toBe(true);
      },
    ],
    ['a branch of its name has nothing that its parent does not have', staleBranch],
    ['there is an empty folder', (folder) => mkdirSync(join(folder, 'worktrees/main_w1'), { recursive: true })],
  ])('also if %s', async (_, prepare) => {
    const { folder } = newRepository();
    prepare(folder);
    const { path, base } = await made(folder);
    expect(git(path, 'rev-parse', 'HEAD', BRANCH).split('\n')).toStrictEqual([base, base]);
    expect(base).toBe(git(folder, 'rev-parse', 'HEAD'));
  });

  test('in the repository of its folder, whatever GIT_DIR says', async () => {
    const [{ folder }, other] = [newRepository(), newRepository()];
    const { repository } = await made(folder, { env: { ...ENV, GIT_DIR: join(other.folder, '.git') } });
    expect(repository).toBe(join(folder, '.git'));
  });

  test('with the hooks of the user, who get nothing of what is only for Raymond', async () => {
    const { folder } = newRepository();
    const seen = join(folder, '.git/seen');
    setUserHook(folder, 'post-checkout', `env | grep ^RAYMOND_ > ${seen}`);
    await made(folder, { env: { ...ENV, RAYMOND_DATABASE: 'postgres://u:secret@host/db' } });
    expect(readFileSync(seen, 'utf8')).toBe(`RAYMOND_TURN=r/${folder}/worktree/main_w1\n`);
  });

  test('with submodules that are not filled, and removed although the worker has filled them', async () => {
    const [{ folder }, other] = [newRepository(), newRepository()];
    git(folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.folder, 'module');
    git(folder, 'commit', '-qm', 'module');
    const place = await made(folder);
    git(place.path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
    expect(existsSync(join(place.path, 'module/sub/a.txt'))).toBe(true);
    expect(await take(folder, { place })).toMatchObject({ kind: 'worktree_closed', content: { kept: false } });
    expect(existsSync(place.path)).toBe(false);
  });

  test.each<[string, () => string, RegExp]>([
    [
      'outside of a repository',
      newFolder,
      /^no worktree can be made for it: .* is not in a git repository: make one with `git init`$/,
    ],
    [
      'without a commit',
      () => {
        const folder = newFolder();
        git(folder, 'init', '-q');
        return folder;
      },
      /the repository .* has no commit yet: make one first$/,
    ],
    [
      'over a branch with other commits',
      () => {
        const { folder } = newRepository();
        git(folder, 'switch', '-qc', BRANCH);
        git(folder, 'commit', '-qm', 'next', '--allow-empty');
        git(folder, 'switch', '-q', '-');
        return folder;
      },
      /there is a branch raymond\/r\/main_w1 already, with commits of its own: rename or remove it$/,
    ],
    [
      'over a folder that is no worktree',
      () => {
        const { folder } = newRepository();
        mkdirSync(join(folder, 'worktrees/main_w1/mine'), { recursive: true });
        return folder;
      },
      /there is a folder .*main_w1 already, which is no worktree: move it away$/,
    ],
    [
      'over a worktree of another branch',
      () => {
        const { folder } = newRepository();
        git(folder, 'worktree', 'add', '-q', '-b', 'mine', 'worktrees/main_w1');
        return folder;
      },
      /main_w1 is a worktree of the branch mine: remove it with `git worktree remove`$/,
    ],
    [
      'in a bare repository',
      () => {
        const folder = newFolder();
        git(folder, 'init', '-q', '--bare');
        return folder;
      },
      /is in a repository without files \(a bare one, or its \.git folder\)$/,
    ],
    [
      'in a repository whose commit is lost',
      () => {
        const { folder } = newRepository();
        rmSync(join(folder, '.git/objects'), { recursive: true });
        mkdirSync(join(folder, '.git/objects'));
        return folder;
      },
      /the repository .* is damaged: its commit [0-9a-f]{40} cannot be read \(`git fsck` tells more\)$/,
    ],
    [
      'in one that git does not recognize',
      () => {
        const { folder } = newRepository();
        writeFileSync(join(folder, '.git/HEAD'), 'nonsense');
        return folder;
      },
      /git does not take .*\.git for a repository: it is damaged$/,
    ],
    [
      'beside a branch that is called as the folder of its own',
      () => {
        const { folder } = newRepository();
        git(folder, 'branch', 'raymond');
        return folder;
      },
      /there is a branch raymond, and git can have no raymond\/r\/main_w1 beside it: rename it$/,
    ],
    ['from a folder that is gone', () => join(newFolder(), 'gone'), /: there is no folder .*gone$/],
  ])('not %s, and the reason is told', async (_, prepare, message) => {
    expect(await take(prepare())).toStrictEqual({
      kind: 'worktree_refused',
      at: 7,
      agent: 'main_w1',
      message: expect.stringMatching(message),
    });
  });

  test.each<[string, (path: string) => void, RegExp]>([
    [
      'commits',
      (path) => git(path, 'commit', '-qm', 'one', '--allow-empty'),
      /main_w1 is there already and holds 1 commit that nobody else has: move it away, or choose another/,
    ],
    ['changes', (path) => writeFileSync(join(path, 'new.txt'), ''), /holds changes that are not committed: move it/],
  ])('not over %s that an earlier run of its id has left; nor are they discarded', async (_, work, message) => {
    const { folder } = newRepository();
    const { path } = await made(folder);
    work(path);
    const before = [git(path, 'rev-parse', 'HEAD'), git(path, 'status', '--porcelain')];
    expect(await take(folder)).toMatchObject({ kind: 'worktree_refused', message: expect.stringMatching(message) });
    expect(await take(folder, { isWanted: false })).toMatchObject({ kind: 'worktree_closed' });
    expect([git(path, 'rev-parse', 'HEAD'), git(path, 'status', '--porcelain')]).toStrictEqual(before);
  });

  test('not without git', async () => {
    const { folder } = newRepository();
    expect(await take(folder, { env: { ...ENV, PATH: '/nonexistent' } })).toMatchObject({
      kind: 'worktree_refused',
      message: 'no worktree can be made for it: git is not installed, or not in PATH',
    });
  });

  test('not on a full disk; git says so, and nothing is left of it', async () => {
    const { folder } = newRepository();
    const env = withGit(
      folder,
      'case "$1" in worktree) echo "fatal: $2: No space left on device" >&2; exit 128;; esac',
    );
    expect(await take(folder, { env })).toMatchObject({
      message: 'no worktree can be made for it: git says: fatal: add: No space left on device',
    });
    expect(await take(folder, { env: ENV })).toMatchObject({ kind: 'worktree_made' });
  });
});

/** A branch with the worker's name that a crash left, before its parent made another commit. */
function staleBranch(folder: string): void {
  git(folder, 'branch', BRANCH);
  git(folder, 'commit', '-qm', 'next', '--allow-empty');
}

/** An environment in which `git` first does this. */
function withGit(folder: string, script: string): NodeJS.ProcessEnv {
  const bin = join(folder, '.git/bin');
  mkdirSync(bin);
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${script}\nexec ${real} "$@"\n`, { mode: 0o755 });
  return { ...ENV, PATH: `${bin}:${ENV.PATH}` };
}

describe('if git is killed', () => {
  /** Lets something happen when git calls this hook; `reference-transaction` is called while the new branch is locked. */
  const hook = (name: string, script: string) => (folder: string) => setUserHook(folder, name, script);
  /** Lets something happen when git writes the file `sub/a.txt`. */
  const filter = (script: string) => (folder: string) => {
    writeFileSync(join(folder, '.git/info/attributes'), '*.txt filter=test\n');
    git(folder, 'config', '--file', userConfigOf(folder), 'filter.test.smudge', script);
  };
  const moments = (script: string): [string, (folder: string) => void][] => [
    ['before the branch is there', hook('reference-transaction', `test "$1" != prepared || { ${script}; }`)],
    ['while it writes files', filter(`${script}; cat`)],
    ['when all files are there', hook('post-checkout', script)],
  ];

  test.each(moments('test -e $TEST_FLAG || { touch $TEST_FLAG; kill -9 0; }'))(
    '%s, the worktree is made all the same',
    async (_, prepare) => {
      const { folder } = newRepository();
      prepare(folder);
      const place = await made(folder, { env: { ...ENV, TEST_FLAG: join(folder, '.git/killed') } });
      expect(existsSync(join(folder, '.git/killed'))).toBe(true);
      expect(git(place.path, 'status', '--porcelain', '--branch')).toBe(`## ${BRANCH}`);
      expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(2);
    },
  );

  /** A repository in which git is killed as long as a file is there. */
  function newKillingRepository(prepare: (folder: string) => void) {
    const { folder } = newRepository();
    const flag = join(folder, '.git/kill');
    prepare(folder);
    writeFileSync(flag, '');
    return { folder, flag, env: { ...ENV, TEST_FLAG: flag } };
  }

  test.each(moments('test ! -e $TEST_FLAG || kill -9 0'))(
    '%s, again and again, the worker fails, and a retry makes the worktree',
    async (_, prepare) => {
      const { folder, env, flag } = newKillingRepository(prepare);
      const message = 'no worktree can be made for it: git was killed';
      expect(await take(folder, { env })).toMatchObject({ kind: 'worktree_refused', message });
      rmSync(flag);
      const place = await made(folder, { env });
      expect(git(place.path, 'status', '--porcelain', '--branch')).toBe(`## ${BRANCH}`);
      expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(2);
    },
  );

  test.each(moments('test ! -e $TEST_FLAG || kill -9 0'))(
    '%s, what is half made is discarded if nobody wants it any more',
    async (_, prepare) => {
      const { folder, env, flag } = newKillingRepository(prepare);
      await take(folder, { env });
      rmSync(flag);
      expect(await take(folder, { env, isWanted: false })).toMatchObject({ kind: 'worktree_closed' });
      expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(1);
      expect([
        existsSync(join(folder, 'worktrees/main_w1')),
        git(folder, 'branch', '--list', 'raymond/*'),
      ]).toStrictEqual([false, '']);
    },
  );

  test('with Raymond, and continues alone, the next Raymond ends it before it makes the worktree', async () => {
    const { folder } = newRepository();
    const begun = join(folder, '.git/begun');
    filter(`test -e ${begun} || { touch ${begun}; sleep 60; }; cat`)(folder);
    const env = { ...ENV, RAYMOND_TURN: `r/${folder}/worktree/main_w1`, GIT_CONFIG_GLOBAL: userConfigOf(folder) };
    const path = join(folder, 'worktrees/main_w1');
    const orphan = spawn('git', ['worktree', 'add', '-b', BRANCH, path], { cwd: folder, env, stdio: 'ignore' });
    const ended = new Promise((done) => orphan.on('close', done));
    await vi.waitUntil(() => existsSync(begun), { timeout: 30_000, interval: 10 });
    await made(folder, { isResumed: true });
    await ended;
    expect(git(path, 'status', '--porcelain', '--branch')).toBe(`## ${BRANCH}`);
  });

  test('only with an earlier process: what a worker of a fleet has at work for one agent is not ended by its next turn for another', async () => {
    const { folder } = newRepository();
    const place = await made(folder, { isResumed: true, isGuest: true });
    const env = { ...ENV, RAYMOND_TURN: `r/${folder}/worktree/main_w2` };
    const other = spawn('sleep', ['60'], { env, stdio: 'ignore' });
    onTestFinished(() => void other.kill());
    await once(other, 'spawn');
    await take(folder, { place, cwd: place.path, isResumed: true, isGuest: true });
    expect([other.exitCode, other.signalCode]).toStrictEqual([null, null]);
  });

  test('because a join ends its worker, nothing is reported', async () => {
    const { folder } = newRepository();
    const begun = join(folder, '.git/begun');
    filter(`touch ${begun}; sleep 60; cat`)(folder);
    const end = new AbortController();
    const taken = take(folder, { end: end.signal });
    await vi.waitUntil(() => existsSync(begun), { timeout: 30_000, interval: 10 });
    end.abort();
    expect(await taken).toBeNull();
    expect(await take(folder, { isWanted: false })).toMatchObject({ kind: 'worktree_closed' });
    expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(1);
  });
});

describe('a worktree that its worker has left', () => {
  test('is removed with its branch if it holds nothing new', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    expect(await take(folder, { place, cwd: place.path })).toStrictEqual({
      kind: 'worktree_closed',
      at: 7,
      agent: 'main_w1',
      content: { kept: false, commits: 0, dirty: false },
    });
    expect([existsSync(place.path), git(folder, 'branch', '--list', 'raymond/*')]).toStrictEqual([false, '']);
  });

  test('is kept with what it holds', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    git(place.path, 'commit', '-qm', 'one', '--allow-empty');
    writeFileSync(join(place.path, 'new.txt'), '');
    const content = { kept: true, commits: 1, dirty: true };
    expect(await take(folder, { place, cwd: place.path })).toMatchObject({ content });
    expect(await take(folder, { place, cwd: place.path })).toMatchObject({ content });
  });

  test('counts commits also if the worker has left its branch', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    git(place.path, 'switch', '-q', '--detach');
    git(place.path, 'commit', '-qm', 'one', '--allow-empty');
    expect(await take(folder, { place, cwd: place.path })).toMatchObject({
      content: { kept: true, commits: 1, dirty: false },
    });
  });

  test('is told of if it is gone', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    rmSync(place.path, { recursive: true });
    expect(await take(folder, { place, cwd: place.path })).toMatchObject({ content: { kept: false } });
    expect(git(folder, 'branch', '--list', 'raymond/*')).toBe('');
  });

  test('leaves its branch if it is gone and the branch has commits', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    git(place.path, 'commit', '-qm', 'one', '--allow-empty');
    rmSync(place.path, { recursive: true });
    const warning = `the worktree ${place.path} is gone; its branch ${BRANCH} is kept`;
    const content = { kept: true, commits: 1, dirty: false };
    expect(await take(folder, { place, cwd: place.path })).toMatchObject({ content, warning });
  });

  test('is removed whole, also after a crash in the middle of that', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    renameSync(place.path, `${place.path}.removed`);
    rmSync(join(`${place.path}.removed`, 'sub'), { recursive: true });
    expect(await take(folder, { place })).toMatchObject({ content: { kept: false, dirty: false } });
    expect([readdirSync(join(folder, 'worktrees')), git(folder, 'worktree', 'list').split('\n').length]).toStrictEqual([
      [],
      1,
    ]);
  });

  test('is kept if git cannot tell what it holds', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    rmSync(join(folder, '.git'), { recursive: true });
    expect(await take(folder, { place })).toMatchObject({
      content: { kept: true },
      warning: expect.stringMatching(
        /^the worktree .* is kept: what it holds is not known \(.* is no worktree of .*\)$/,
      ),
    });
  });

  test.each<[string, (place: WorktreePlace) => void, string, RegExp]>([
    ['as it is', ({ path }) => writeFileSync(join(path, 'new.txt'), ''), '?? new.txt', /^$/],
    [
      'from its branch, if its folder is gone',
      ({ path }) => rmSync(path, { recursive: true }),
      '',
      /^the worktree .*main_w1 was gone: it is made again from its branch$/,
    ],
  ])('is opened again for a retry: %s', async (_, change, status, warning) => {
    const { folder } = newRepository();
    const place = await made(folder);
    git(place.path, 'commit', '-qm', 'one', '--allow-empty');
    const tip = git(place.path, 'rev-parse', 'HEAD');
    change(place);
    const signal = await take(folder, { place, isWanted: true });
    expect(signal).toMatchObject({ kind: 'worktree_made', place });
    expect((signal?.kind === 'worktree_made' && signal.warning) || '').toMatch(warning);
    expect([git(place.path, 'rev-parse', 'HEAD'), git(place.path, 'status', '--porcelain')]).toStrictEqual([
      tip,
      status,
    ]);
  });

  test('is not opened again, nor removed, if git does not know its folder any more', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    writeFileSync(join(place.path, 'new.txt'), '');
    rmSync(join(folder, '.git/worktrees'), { recursive: true });
    const message = `no worktree can be made for it: there is a folder ${place.path} already, which is no worktree: move it away`;
    expect(await take(folder, { place, isWanted: true })).toMatchObject({ kind: 'worktree_refused', message });
    expect(existsSync(join(place.path, 'new.txt'))).toBe(true);
  });

  test('is made again for a retry if it was removed', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    await take(folder, { place });
    git(folder, 'commit', '-qm', 'next', '--allow-empty');
    expect(await take(folder, { place, isWanted: true })).toMatchObject({ kind: 'worktree_made', place });
    expect(git(place.path, 'rev-parse', 'HEAD')).toBe(place.base);
  });
});
