import { spawn } from 'node:child_process';
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
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { WorkspacePlace } from '../../src/core/run/workspace.ts';
import type { WorktreeTurn } from '../../src/core/turns/worktree-turns.ts';
import { createWorktreeRunner } from '../../src/turns/worktree-turn.ts';
import { git } from '../git.ts';
import { newTurnContext } from './turn-context.ts';

const ENV = process.env;
const BRANCH = 'raymond/r/main';
const NEVER = new AbortController().signal;

let template: string | undefined;

afterAll(() => {
  if (template !== undefined) rmSync(template, { recursive: true });
});

function makeTemplate(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-remote-')));
  const work = join(folder, 'work');
  mkdirSync(work);
  git(work, 'init', '-q', '-b', 'trunk');
  writeFileSync(join(work, 'a.txt'), 'a');
  git(work, 'add', '.');
  git(work, 'commit', '-qm', 'first');
  git(work, 'tag', 'v1');
  git(work, 'commit', '-qm', 'second', '--allow-empty');
  git(folder, 'clone', '-q', '--bare', 'work', 'remote.git');
  return folder;
}

/** A folder with a bare repository, as it would be on a server. */
function newScene(): { readonly folder: string; readonly remote: string; readonly path: string } {
  template ??= makeTemplate();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-workspace-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  cpSync(template, folder, { recursive: true });
  return { folder, remote: join(folder, 'remote.git'), path: join(folder, 'worktrees/main') };
}

interface Taken {
  readonly source?: { readonly git: string; readonly ref: string | null };
  readonly place?: WorkspacePlace | null;
  readonly isWanted?: boolean;
  readonly isOver?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  readonly end?: AbortSignal;
  readonly isSandbox?: boolean;
}

function take(folder: string, taken: Taken = {}) {
  const { place = null, isWanted = place === null, isOver = true, env = ENV, end = NEVER, isSandbox = false } = taken;
  const source = taken.source ?? { git: join(folder, 'remote.git'), ref: null };
  const clock = { ...newTurnContext(folder).clock, now: () => 7 };
  const turn = { kind: 'workspace', agent: 'workspace', isWanted, source, place, isOver, node: null } as const;
  return createWorktreeRunner(newTurnContext(folder, { env, clock, isResumed: true, isSandbox }))(turn, end);
}

async function made(folder: string, taken: Taken = {}): Promise<WorkspacePlace> {
  const signal = await take(folder, taken);
  if (signal?.kind !== 'workspace_made') throw new Error(JSON.stringify(signal));
  return signal.place;
}

async function left(folder: string, place: WorkspacePlace, taken: Taken = {}) {
  const signal = await take(folder, { place, isWanted: false, ...taken });
  if (signal?.kind !== 'workspace_left') throw new Error(JSON.stringify(signal));
  return signal;
}

function commit(path: string, name = 'b.txt'): void {
  writeFileSync(join(path, name), name);
  git(path, 'add', '.');
  git(path, 'commit', '-qm', name);
}

describe('a clone is made', () => {
  test('at the head of the repository, on a branch of its own', async () => {
    const { folder, remote, path } = newScene();
    const base = git(remote, 'rev-parse', 'trunk');
    const place = { path, branch: BRANCH, base, repository: join(path, '.git'), remote };
    expect(await take(folder)).toStrictEqual({ kind: 'workspace_made', at: 7, place });
    expect([git(path, 'branch', '--show-current'), readdirSync(path).sort()]).toStrictEqual([
      BRANCH,
      ['.git', 'a.txt'],
    ]);
    expect(git(path, 'worktree', 'list')).toContain(path);
  });

  test.each([
    ['a branch', 'trunk', 'trunk'],
    ['a tag', 'v1', 'v1'],
    ['any other ref', 'refs/pull/1/head', 'refs/pull/1/head'],
  ])('at %s', async (_, ref, expected) => {
    const { folder, remote } = newScene();
    git(remote, 'update-ref', 'refs/pull/1/head', 'v1^{commit}');
    const { base } = await made(folder, { source: { git: remote, ref } });
    expect(base).toBe(git(remote, 'rev-parse', `${expected}^{commit}`));
  });

  test('at a commit', async () => {
    const { folder, remote } = newScene();
    const ref = git(remote, 'rev-parse', 'v1^{commit}').slice(0, 10);
    expect((await made(folder, { source: { git: remote, ref } })).base).toContain(ref);
  });

  test('again, if a crash came before it was whole, or before it was reported', async () => {
    const { folder, path } = newScene();
    await made(folder);
    cpSync(path, `${path}.partial`, { recursive: true });
    const before = join(path, '.git/before');
    writeFileSync(before, '');
    await made(folder);
    expect([readdirSync(join(folder, 'worktrees')), existsSync(before)]).toStrictEqual([['main'], false]);
  });

  test('again after a crash, also from a ref that is neither a branch nor a tag', async () => {
    const { folder, remote } = newScene();
    git(remote, 'update-ref', 'refs/pull/1/head', git(remote, 'commit-tree', '-m', 'pulled', 'v1^{tree}'));
    const taken = { source: { git: remote, ref: 'refs/pull/1/head' } };
    expect(await made(folder, taken)).toStrictEqual(await made(folder, taken));
  });

  test('while a git of an earlier process still clones: that is ended first', async () => {
    const { folder, path } = newScene();
    const sleeper = spawn('sleep', ['600'], {
      env: { ...ENV, RAYMOND_TURN: `r/${folder}/worktree/workspace` },
      stdio: 'ignore',
      detached: true,
    });
    const gone = new Promise((resolve) => sleeper.on('exit', resolve));
    await made(folder);
    await gone;
    expect(existsSync(path)).toBe(true);
  });

  test('once more from what was pushed, if it is gone; one that is there is left as it is', async () => {
    const { folder, path } = newScene();
    const place = await made(folder);
    commit(path);
    writeFileSync(join(path, 'c.txt'), 'not committed');
    expect(await take(folder, { place, isWanted: true })).toStrictEqual({ kind: 'workspace_made', at: 7, place });
    expect(existsSync(join(path, 'c.txt'))).toBe(true);
    await left(folder, place, { isOver: false });
    rmSync(path, { recursive: true });
    expect(await take(folder, { place, isWanted: true })).toStrictEqual({
      kind: 'workspace_made',
      at: 7,
      place,
      warning: `the clone ${path} was gone: it is made again from what was pushed`,
    });
    expect(readdirSync(path).sort()).toStrictEqual(['.git', 'a.txt', 'b.txt']);
  });
});

describe('a clone is refused', () => {
  test.each<[string, (remote: string) => Taken, RegExp]>([
    [
      'there is no repository',
      (remote) => ({ source: { git: `${remote}x`, ref: null } }),
      /there is no git repository at/,
    ],
    [
      'there is no such branch',
      (remote) => ({ source: { git: remote, ref: 'nope' } }),
      /has no branch, tag or commit nope$/,
    ],
    [
      'the branch of the run is there already',
      (remote) => {
        git(remote, 'branch', BRANCH, 'trunk');
        return {};
      },
      /has a branch raymond\/r\/main already: choose another --run-id/,
    ],
    [
      'a branch is in the way',
      (remote) => {
        git(remote, 'branch', 'raymond', 'trunk');
        return {};
      },
      /has a branch raymond already/,
    ],
    [
      'there is no commit yet',
      (remote) => {
        rmSync(remote, { recursive: true });
        git(join(remote, '..'), 'init', '-q', '--bare', remote);
        return {};
      },
      /has no commit yet: make one first$/,
    ],
    [
      'nobody listens',
      () => ({ source: { git: 'http://127.0.0.1:9/x.git', ref: null } }),
      /^its workspace cannot be made: http:\/\/127.0.0.1:9\/x.git cannot be reached/,
    ],
    [
      'credentials are asked for',
      (remote) => {
        const ssh = join(remote, '../ssh');
        writeFileSync(ssh, '#!/bin/sh\necho "me@host: Permission denied (publickey)." >&2; exit 255\n', {
          mode: 0o755,
        });
        return { source: { git: 'me@host:x.git', ref: null }, env: { ...ENV, GIT_SSH_COMMAND: ssh } };
      },
      /wants credentials, and nobody is asked for them here/,
    ],
    ['git is not there', (remote) => ({ env: { ...ENV, PATH: join(remote, 'nothing') } }), /git is not installed/],
  ])('if %s, and nothing is left of it', async (_, arrange, message) => {
    const { folder, remote } = newScene();
    const signal = await take(folder, arrange(remote));
    expect(signal).toMatchObject({ kind: 'workspace_refused', message: expect.stringMatching(message) });
    expect(existsSync(join(folder, 'worktrees'))).toBe(false);
  });

  test.each<[string, (path: string) => void, RegExp]>([
    ['commits', commit, /main is there already and holds 1 commit that nobody else has: move it away/],
    ['changes', (path) => writeFileSync(join(path, 'x'), ''), /holds changes that are not committed: move it away/],
    [
      'a stash',
      (path) => {
        writeFileSync(join(path, 'a.txt'), 'other');
        git(path, 'stash', '-q');
      },
      /holds changes in `git stash`: move it away, or choose another --run-id$/,
    ],
  ])('if an earlier run of its id has left %s there, which stay', async (_, work, message) => {
    const { folder, path } = newScene();
    await made(folder);
    work(path);
    writeFileSync(join(path, '.git/before'), '');
    expect(await take(folder)).toMatchObject({
      kind: 'workspace_refused',
      message: expect.stringMatching(message),
    });
    expect(existsSync(join(path, '.git/before'))).toBe(true);
  });

  test('without a word to a terminal or a window', async () => {
    const { folder } = newScene();
    const ssh = join(folder, 'ssh');
    writeFileSync(
      ssh,
      '#!/bin/sh\necho "$GIT_TERMINAL_PROMPT,$SSH_ASKPASS_REQUIRE,$SSH_ASKPASS,$(: </dev/tty 2>/dev/null && echo tty)" >&2; exit 1\n',
      { mode: 0o755 },
    );
    const signal = await take(folder, {
      source: { git: 'me@host:x.git', ref: null },
      env: { ...ENV, GIT_SSH_COMMAND: ssh, SSH_ASKPASS: 'window' },
    });
    expect(signal).toMatchObject({ message: expect.stringContaining('0,never,,') });
  });
});

describe('a clone is left', () => {
  test('without a push, and removed, if it holds nothing new', async () => {
    const { folder, remote } = newScene();
    const { content } = await left(folder, await made(folder));
    expect(content).toStrictEqual({ kept: false, commits: 0, dirty: false, pushed: true });
    expect([existsSync(join(folder, 'worktrees')), git(remote, 'branch', '--list', 'raymond/*')]).toStrictEqual([
      false,
      '',
    ]);
  });

  test('pushed and removed, with the branches of workers', async () => {
    const { folder, remote, path } = newScene();
    const place = await made(folder);
    commit(path);
    git(path, 'branch', 'raymond/r/main_w1');
    expect(await left(folder, place)).toStrictEqual({
      kind: 'workspace_left',
      at: 7,
      content: { kept: false, commits: 1, dirty: false, pushed: true },
    });
    expect([existsSync(path), git(remote, 'show', `${BRANCH}:b.txt`)]).toStrictEqual([false, 'b.txt']);
    expect(git(remote, 'branch', '--format=%(refname:short)', '--list', 'raymond/*').split('\n')).toStrictEqual([
      BRANCH,
      'raymond/r/main_w1',
    ]);
    // A crash came before that was on record, or somebody removed it: nobody can tell.
    expect(await left(folder, place)).toStrictEqual({
      kind: 'workspace_left',
      at: 7,
      content: { kept: false, commits: 1, dirty: false, pushed: true },
      warning: `the clone ${path} was gone: what was in it and not pushed before is lost`,
    });
  });

  test('without a warning if a kill cut its removal short, and nothing of it stays', async () => {
    const { folder, path } = newScene();
    const place = await made(folder);
    commit(path);
    const whole = await left(folder, place);
    mkdirSync(join(`${path}.removed`, 'sub'), { recursive: true });
    expect([await left(folder, place), existsSync(`${path}.removed`)]).toStrictEqual([whole, false]);
  });

  test('after the worktree of a worker whose removal a kill cut short: what was pushed is told, and nothing stays', async () => {
    const { folder } = newScene();
    const workspace = await made(folder);
    const context = newTurnContext(folder, { env: ENV });
    const turn = {
      kind: 'worktree',
      agent: 'main_w1',
      state: 'W.md',
      cwd: workspace.path,
      node: null,
      workspace,
    } as const;
    const opened = await createWorktreeRunner(context)({ ...turn, isWanted: true, place: null }, NEVER);
    if (opened?.kind !== 'worktree_made') throw new Error(JSON.stringify(opened));
    const { place } = opened;
    commit(place.path);
    const close = () => createWorktreeRunner(context)({ ...turn, isWanted: false, place }, NEVER);
    const content = { kept: false, commits: 1, dirty: false, pushed: true };
    expect(await close()).toMatchObject({ content });
    mkdirSync(join(`${place.path}.removed`, 'sub'), { recursive: true });
    const again = await close();
    expect([again, existsSync(`${place.path}.removed`)]).toMatchObject([{ content }, false]);
    expect(again).not.toHaveProperty('warning');
  });

  test('pushed and kept, if the run may continue; the next commits are pushed later', async () => {
    const { folder, remote, path } = newScene();
    const place = await made(folder);
    commit(path);
    const names = readdirSync(join(path, '.git'));
    expect((await left(folder, place, { isOver: false })).content).toMatchObject({
      kept: true,
      commits: 1,
      pushed: true,
    });
    expect(readdirSync(join(path, '.git'))).toStrictEqual(names);
    commit(path, 'c.txt');
    expect((await left(folder, place)).content).toMatchObject({ kept: false, commits: 2, pushed: true });
    expect(git(remote, 'show', `${BRANCH}:c.txt`)).toBe('c.txt');
  });

  test.each<[string, (path: string) => void, object]>([
    ['changes', (path) => writeFileSync(join(path, 'x'), 'x'), { content: { kept: true, dirty: true, pushed: true } }],
    [
      'commits on another branch',
      (path) => {
        git(path, 'checkout', '-qb', 'mine');
        commit(path);
      },
      { content: { kept: true, dirty: false }, warning: expect.stringContaining('commits on other branches') },
    ],
    [
      'a stash',
      (path) => {
        writeFileSync(join(path, 'a.txt'), 'other');
        git(path, 'stash', '-q');
      },
      { content: { kept: true }, warning: expect.stringContaining('git stash') },
    ],
    [
      'a worktree',
      (path) => git(path, 'worktree', 'add', '-q', '../main_w1', '-b', 'raymond/r/main_w1'),
      { content: { kept: true }, warning: expect.stringContaining('worktrees of workers') },
    ],
  ])('and kept, because of %s', async (_, change, expected) => {
    const { folder, path } = newScene();
    const place = await made(folder);
    change(path);
    expect(await left(folder, place)).toMatchObject(expected);
    expect(existsSync(path)).toBe(true);
  });

  test.each<[string, (remote: string, path: string) => void, RegExp]>([
    [
      'a hook refuses it',
      (remote) => writeFileSync(join(remote, 'hooks/pre-receive'), '#!/bin/sh\nexit 1\n', { mode: 0o755 }),
      /refuses the branch raymond\/r\/main: pre-receive hook declined\. What was committed is in .*, and a resume pushes it$/,
    ],
    [
      'somebody else has pushed there',
      (remote) => git(remote, 'branch', BRANCH, git(remote, 'commit-tree', '-m', 'other', 'v1^{tree}')),
      /has a branch raymond\/r\/main with other commits, and nothing is ever forced/,
    ],
    ['the repository is gone', (remote) => renameSync(remote, `${remote}.moved`), /there is no git repository at/],
  ])('and kept, because %s; nothing is lost', async (_, arrange, problem) => {
    const { folder, remote, path } = newScene();
    const place = await made(folder);
    commit(path);
    arrange(remote, path);
    expect(await left(folder, place)).toMatchObject({
      content: { kept: true, commits: 1, dirty: false, pushed: false },
      problem: expect.stringMatching(problem),
    });
    expect(existsSync(join(path, 'b.txt'))).toBe(true);
    // Once the way is free, the same turn pushes.
    rmSync(join(remote, 'hooks/pre-receive'), { force: true });
    if (existsSync(`${remote}.moved`)) renameSync(`${remote}.moved`, remote);
    if (git(remote, 'branch', '--list', BRANCH) !== '') git(remote, 'branch', '-D', BRANCH);
    expect((await left(folder, place)).content).toMatchObject({ kept: false, pushed: true });
  });

  test('to another address, if the user has named one since', async () => {
    const { folder, remote, path } = newScene();
    const place = await made(folder);
    commit(path);
    const moved = `${remote}.moved`;
    renameSync(remote, moved);
    const again = await made(folder, { place, isWanted: true, source: { git: moved, ref: null } });
    expect(again.remote).toBe(moved);
    await left(folder, again, { source: { git: moved, ref: null } });
    expect(git(moved, 'show', `${BRANCH}:b.txt`)).toBe('b.txt');
  });

  test('not as pushed, if it is on another machine: what is in it is not known', async () => {
    const { folder } = newScene();
    const place = { ...(await made(folder)), path: '/elsewhere/main' };
    expect(await left(folder, place)).toMatchObject({
      content: { pushed: false },
      problem: expect.stringContaining('/elsewhere/main is not on this machine'),
    });
  });

  test('at once by whoever ends everything, while it is pushed', async () => {
    const { folder, remote, path } = newScene();
    const place = await made(folder);
    commit(path);
    const [at, gate] = [join(folder, 'at'), join(folder, 'gate')];
    const hook = `#!/bin/sh\ntouch '${at}'; until [ -e '${gate}' ]; do sleep 0.02; done\n`;
    writeFileSync(join(remote, 'hooks/pre-receive'), hook, { mode: 0o755 });
    const end = new AbortController();
    const taken = left(folder, place, { end: end.signal });
    await vi.waitFor(() => expect(existsSync(at)).toBe(true), { timeout: 10_000, interval: 20 });
    end.abort();
    expect(await taken).toMatchObject({
      content: { pushed: false },
      problem: expect.stringContaining('no time to push'),
    });
    writeFileSync(gate, '');
  });
});

describe('whatever those who work in a clone write into its settings', () => {
  const SECRET = { ...ENV, RAYMOND_DATABASE: 'postgres://u:secret@host/db' };
  const HOOKS = ['pre-push', 'reference-transaction', 'post-checkout', 'post-index-change'];
  /** A command that leaves a trace, with what it finds in its environment. */
  const trace = (folder: string): string => `env >> '${join(folder, 'trace')}'`;
  const hook = (path: string, name: string, script: string): void =>
    writeFileSync(join(path, '.git/hooks', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

  test('none of the programs that they name is started', async () => {
    const { folder, remote, path } = newScene();
    const place = await made(folder);
    commit(path);
    for (const name of HOOKS) hook(path, name, trace(folder));
    const program = `sh -c "${trace(folder)}; cat" --`;
    for (const key of ['core.fsmonitor', 'core.sshCommand', 'filter.x.clean', 'credential.helper', 'diff.external'])
      git(path, 'config', key, program);
    writeFileSync(join(path, '.git/info/attributes'), '* filter=x\n');
    utimesSync(join(path, 'a.txt'), 1, 1);
    expect(await take(folder, { env: SECRET })).toMatchObject({ message: expect.stringContaining('is there already') });
    expect((await left(folder, place, { env: SECRET })).content).toMatchObject({ kept: false, pushed: true });
    expect([git(remote, 'show', `${BRANCH}:b.txt`), existsSync(join(folder, 'trace'))]).toStrictEqual(['b.txt', false]);
  });

  test('no hook is started for the worktree of a worker, and it is pushed to the repository of the run', async () => {
    const { folder, remote, path } = newScene();
    const workspace = await made(folder);
    for (const name of HOOKS) hook(path, name, trace(folder));
    git(path, 'config', `url.${folder}/work.insteadOf`, remote);
    const turn = { kind: 'worktree', agent: 'main_w1', state: 'W.md', cwd: path, node: null, workspace } as const;
    const run = createWorktreeRunner(newTurnContext(folder, { env: SECRET }));
    const signal = await run({ ...turn, isWanted: true, place: null }, NEVER);
    if (signal?.kind !== 'worktree_made') throw new Error(JSON.stringify(signal));
    const { place } = signal;
    for (const name of HOOKS) rmSync(join(path, '.git/hooks', name));
    commit(place.path);
    for (const name of HOOKS) hook(path, name, trace(folder));
    expect(await run({ ...turn, isWanted: false, place }, NEVER)).toMatchObject({
      content: { kept: false, commits: 1, dirty: false, pushed: true },
    });
    expect([git(remote, 'show', `${place.branch}:b.txt`), existsSync(join(folder, 'trace'))]).toStrictEqual([
      'b.txt',
      false,
    ]);
  });

  test.each<[string, (folder: string, path: string) => void]>([
    [
      'another address is named for that of the repository',
      (folder, path) => git(path, 'config', `url.${folder}/other.git.insteadOf`, join(folder, 'remote.git')),
    ],
    [
      'that is in a file which the settings include',
      (folder, path) => {
        const text = `[url "${folder}/other.git"]\n\tinsteadOf = ${folder}/remote.git\n`;
        writeFileSync(join(path, '.git/more'), text);
        git(path, 'config', 'include.path', 'more');
      },
    ],
    ['the remote has another address', (_, path) => git(path, 'remote', 'set-url', 'origin', '../../other.git')],
  ])('commits are pushed to the repository of the run, although %s and they were pushed there', async (_, redirect) => {
    const { folder, remote, path } = newScene();
    const place = await made(folder);
    commit(path);
    git(folder, 'clone', '-q', '--bare', 'work', 'other.git');
    redirect(folder, path);
    git(path, 'push', '-q', 'origin', BRANCH, `${BRANCH}:mine`);
    expect(git(join(folder, 'other.git'), 'show', `${BRANCH}:b.txt`)).toBe('b.txt');
    expect((await left(folder, place)).content).toMatchObject({ kept: false, commits: 1, pushed: true });
    expect(git(remote, 'show', `${BRANCH}:b.txt`)).toBe('b.txt');
  });

  test('a clone stays whose other branches only seem to be pushed', async () => {
    const { folder, path } = newScene();
    const place = await made(folder);
    git(path, 'checkout', '-qb', 'mine');
    commit(path);
    git(path, 'update-ref', 'refs/remotes/origin/mine', 'mine');
    git(path, 'tag', 'mine-too');
    git(path, 'checkout', '-q', BRANCH);
    expect(await left(folder, place)).toMatchObject({
      content: { kept: true },
      warning: expect.stringContaining('commits on other branches, which are not pushed'),
    });
    git(path, 'push', '-q', 'origin', 'mine');
    expect(await left(folder, place)).toMatchObject({ content: { kept: false } });
  });

  test('changes are seen in the folder of the clone', async () => {
    const { folder, path } = newScene();
    const place = await made(folder);
    writeFileSync(join(path, 'x'), '');
    git(path, 'config', 'core.worktree', join(folder, 'work'));
    expect((await left(folder, place)).content).toMatchObject({ kept: true, dirty: true });
  });

  test('a clone stays that has another repository in the place of its own', async () => {
    const { folder, path } = newScene();
    const place = await made(folder);
    rmSync(join(path, '.git'), { recursive: true });
    writeFileSync(join(path, '.git'), `gitdir: ${join(folder, 'work/.git')}\n`);
    expect(await left(folder, place)).toMatchObject({
      content: { kept: true, pushed: false },
      problem: expect.stringMatching(/^what the clone .* holds is not known: .* is no worktree of /),
    });
  });

  test('files of Git LFS are pushed, by that of the machine', async () => {
    const { folder, remote, path } = newScene();
    const place = await made(folder);
    commit(path);
    mkdirSync(join(path, '.git/lfs/objects'), { recursive: true });
    const [bin, said] = [join(folder, 'bin'), join(folder, 'said')];
    mkdirSync(bin);
    writeFileSync(
      join(bin, 'git-lfs'),
      `#!/bin/sh\n[ "$1" = version ] || { echo "$@"; ls $(git rev-parse --git-common-dir)/lfs; } > ${said}\n`,
      {
        mode: 0o755,
      },
    );
    await left(folder, place, { env: { ...ENV, PATH: `${bin}:${ENV.PATH}` } });
    expect(readFileSync(said, 'utf8')).toBe(`pre-push ${remote} ${remote}\nobjects\n`);
  });
});

test('a branch is pushed also if somebody has continued from it in the repository', async () => {
  const { folder, remote, path } = newScene();
  const place = await made(folder);
  commit(path);
  await left(folder, place, { isOver: false });
  const next = git(remote, 'commit-tree', '-m', 'next', '-p', BRANCH, `${BRANCH}^{tree}`);
  git(remote, 'update-ref', `refs/heads/${BRANCH}`, next);
  expect((await left(folder, place)).content).toMatchObject({ kept: false, commits: 1, pushed: true });
  expect(git(remote, 'rev-parse', BRANCH)).toBe(next);
});

describe('the clone of an agent on another machine than its parent', () => {
  const AGENT = 'main_w1';

  function takeAgent(folder: string, turn: Partial<WorktreeTurn>) {
    const wanted = { kind: 'worktree', agent: AGENT, state: 'W.md', isWanted: true, place: null, cwd: folder } as const;
    const clock = { ...newTurnContext(folder).clock, now: () => 7 };
    return createWorktreeRunner(newTurnContext(folder, { clock }))({ ...wanted, node: null, ...turn }, NEVER);
  }

  async function newAgentClone() {
    const { folder, remote } = newScene();
    const base = git(remote, 'rev-parse', 'trunk');
    git(remote, 'branch', `raymond/r/${AGENT}`, base);
    const transfer = { kind: 'clone', base, remote, prefix: '' } as const;
    const signal = await takeAgent(folder, { transfer });
    if (signal?.kind !== 'worktree_made') throw new Error(JSON.stringify(signal));
    return { folder, transfer, signal, path: signal.place.path };
  }

  test('is made again if a crash came before it was reported, and stays if there is work of an earlier run in it', async () => {
    const { folder, transfer, signal, path } = await newAgentClone();
    expect(await takeAgent(folder, { transfer })).toStrictEqual(signal);
    commit(path);
    expect(await takeAgent(folder, { transfer })).toMatchObject({
      kind: 'worktree_refused',
      message: expect.stringContaining(`${path} is there already and holds 1 commit that nobody else has`),
    });
    await takeAgent(folder, { transfer, isWanted: false });
    expect(existsSync(join(path, 'b.txt'))).toBe(true);
  });

  test('says so if it was gone when it is opened again, or left', async () => {
    const { folder, signal, path } = await newAgentClone();
    const { place } = signal;
    commit(path);
    rmSync(path, { recursive: true });
    expect(await takeAgent(folder, { place })).toStrictEqual({
      ...signal,
      warning: `the clone ${path} was gone: it is made again from what was pushed`,
    });
    rmSync(path, { recursive: true });
    expect(await takeAgent(folder, { place, isWanted: false })).toMatchObject({
      kind: 'worktree_closed',
      warning: `the clone ${path} was gone: what was in it and not pushed before is lost`,
    });
  });
});

test('a test has no clone: its own folder is the repository and what is pushed to', async () => {
  const { folder } = newScene();
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'a.txt'), 'a');
  const place = await made(project, { isSandbox: true });
  expect(place).toMatchObject({ path: project, branch: BRANCH, remote: project });
  commit(project);
  const { content } = await left(project, place, { isSandbox: true });
  expect(content).toStrictEqual({ kept: true, commits: 1, dirty: false, pushed: true });
  expect([git(project, 'branch', '--show-current'), git(project, 'fetch', 'origin', BRANCH)]).toStrictEqual([
    BRANCH,
    '',
  ]);
});
