import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { WorktreePlace } from '../../src/core/agent.ts';
import { takeWorktreeTurn } from '../../src/turns/worktree-turn.ts';
import { newTurnContext } from './turn-context.ts';

const ENV = {
  ...process.env,
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', GIT_CEILING_DIRECTORIES: tmpdir() },
};
const BRANCH = 'raymond/r/main_w1';

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    ...{ cwd: folder, env: ENV, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  }).trim();

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-worktree-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

function newRepository(): { readonly folder: string; readonly head: string } {
  const folder = newFolder();
  git(folder, 'init', '-q');
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'sub/a.txt'), 'a');
  writeFileSync(join(folder, '.gitignore'), 'worktrees\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'first');
  return { folder, head: git(folder, 'rev-parse', 'HEAD') };
}

const take = (folder: string, place: WorktreePlace | null = null, cwd = folder) =>
  takeWorktreeTurn(newTurnContext(folder, { env: ENV, clock: { ...newTurnContext(folder).clock, now: () => 7 } }), {
    ...{ kind: 'worktree', agent: 'main_w1', state: 'W.md', place, cwd },
  });

async function made(folder: string, cwd = folder): Promise<WorktreePlace> {
  const signal = await take(folder, null, cwd);
  if (signal.kind !== 'worktree_made') throw new Error(JSON.stringify(signal));
  return signal.place;
}

describe('a worktree is made', () => {
  test('from the commit of its parent, and the worker begins in the same folder of it', async () => {
    const { folder, head } = newRepository();
    const path = join(folder, 'worktrees/main_w1');
    const place = { path, branch: BRANCH, base: head };
    expect(await take(folder, null, join(folder, 'sub'))).toStrictEqual({
      ...{ kind: 'worktree_made', at: 7, agent: 'main_w1', place, cwd: join(path, 'sub/') },
    });
    expect(git(path, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(BRANCH);
    expect(existsSync(join(path, 'sub/a.txt'))).toBe(true);
  });

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

  test('while the index of its parent is locked', async () => {
    const { folder } = newRepository();
    writeFileSync(join(folder, '.git/index.lock'), '');
    expect(await take(folder)).toMatchObject({ kind: 'worktree_made' });
  });

  test.each<[string, () => string, RegExp]>([
    [
      'outside of a repository',
      newFolder,
      /^no worktree can be made for it: .* is not in the files of a git repository \(git says: fatal: not a git repository/,
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
        git(folder, 'branch', BRANCH);
        git(folder, 'commit', '-qm', 'next', '--allow-empty');
        return folder;
      },
      /there is a branch raymond\/r\/main_w1 already, with other commits: rename or remove it$/,
    ],
    [
      'over a folder that is no worktree',
      () => {
        const { folder } = newRepository();
        mkdirSync(join(folder, 'worktrees/main_w1'), { recursive: true });
        return folder;
      },
      /there is a folder .*main_w1 already, which is no worktree of .*: move it away$/,
    ],
  ])('not %s, and the reason is told', async (_, prepare, message) => {
    expect(await take(prepare())).toStrictEqual({
      ...{ kind: 'worktree_refused', at: 7, agent: 'main_w1', message: expect.stringMatching(message) },
    });
  });
});

describe('a worktree that its worker has left', () => {
  test('is removed with its branch if it holds nothing new', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    expect(await take(folder, place, place.path)).toStrictEqual({
      ...{ kind: 'worktree_closed', at: 7, agent: 'main_w1', content: { kept: false, commits: 0, dirty: false } },
    });
    expect([existsSync(place.path), git(folder, 'branch', '--list', 'raymond/*')]).toStrictEqual([false, '']);
  });

  test('is kept with what it holds', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    git(place.path, 'commit', '-qm', 'one', '--allow-empty');
    writeFileSync(join(place.path, 'new.txt'), '');
    const content = { kept: true, commits: 1, dirty: true };
    expect(await take(folder, place, place.path)).toMatchObject({ content });
    expect(await take(folder, place, place.path)).toMatchObject({ content });
  });

  test('counts commits also if the worker has left its branch', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    git(place.path, 'switch', '-q', '--detach');
    git(place.path, 'commit', '-qm', 'one', '--allow-empty');
    expect(await take(folder, place, place.path)).toMatchObject({ content: { kept: true, commits: 1, dirty: false } });
  });

  test('is told of if it is gone', async () => {
    const { folder } = newRepository();
    const place = await made(folder);
    rmSync(place.path, { recursive: true });
    const warning = `the worktree ${place.path} is gone; its branch ${BRANCH} is kept`;
    expect(await take(folder, place, place.path)).toMatchObject({ content: { kept: true }, warning });
  });
});
