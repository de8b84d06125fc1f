import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { PinnedCode } from '../../src/language/pinned-code.ts';
import { ChangedCodeError } from '../../src/turns/signals.ts';
import { hasSettings, SettingsGuard, withSettings } from '../../src/wiring/settings-guard.ts';

const NO_CODE_YET: PinnedCode = { workflows: {}, listed: {} };
const SETTINGS = '.claude/settings.json';

/** A project in which a run begins, and what the guard says of the folders that agents work in later. */
function newProject({ git = false, isNode = false } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-settings-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const cwd = join(root, 'project');
  mkdirSync(cwd);
  const env = { PATH: process.env.PATH, HOME: join(root, 'home') };
  const gitAt = (date: Date, ...args: readonly string[]): string => {
    const options = { cwd, env: { ...env, GIT_COMMITTER_DATE: date.toISOString() }, encoding: 'utf8' } as const;
    return execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], options).trim();
  };
  const runGit = (...args: readonly string[]): string => gitAt(new Date(), ...args);
  if (git) runGit('init', '--quiet');
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  };
  /** The times of git are whole seconds. */
  const commit = (inMs = 0): string => {
    runGit('add', '--all');
    gitAt(new Date(Date.now() + inMs), 'commit', '--quiet', '--message', 'x');
    return runGit('rev-parse', 'HEAD');
  };
  /** Begins a run. */
  const begin = () => {
    const run = { id: 'r1', startFolder: cwd, startedAt: Date.now() };
    const guard = new SettingsGuard(run, env, isNode);
    let code = withSettings(NO_CODE_YET, guard.pin());
    const tryIn = async (folder: string, clone?: string) => {
      const turn = {
        state: 'NEXT.md',
        cwd: join(cwd, folder),
        code,
        ...(clone !== undefined && { clone: { path: join(cwd, '../clone'), base: clone } }),
      };
      const error = await guard.check(turn).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (error !== null && !(error instanceof ChangedCodeError)) throw error;
      return error;
    };
    return {
      changesIn: async (folder: string, clone?: string) =>
        (await tryIn(folder, clone))?.changed.map(({ file }) => file) ?? [],
      messageIn: async (folder: string) => (await tryIn(folder))?.message,
      async acceptIn(folder: string, endedAtMs = Number.POSITIVE_INFINITY) {
        const told = (await tryIn(folder))?.changed ?? [];
        const accepted = guard.accept(code, endedAtMs === Number.POSITIVE_INFINITY ? told : [], endedAtMs, [
          join(cwd, folder),
        ]);
        ({ code } = accepted);
        return accepted.accepted;
      },
    };
  };
  return { cwd, write, commit, runGit, begin };
}

/** Waits until the clock is ahead of all file times: the kernel's are a few milliseconds behind. */
async function untilLater(): Promise<void> {
  const later = Date.now() + 60;
  while (Date.now() < later) await new Promise((resolve) => setImmediate(resolve));
}

test.each([
  '.mcp.json',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/agents/deep/x.md',
  '.claude/commands/x.md',
  '.claude/skills/x/SKILL.md',
  '.claude/skills/x/run.py',
  '.claude/hooks/check.sh',
  '.claude/plugins/p/hooks/hooks.json',
])('a new or changed %s counts, also in folders below it', async (file) => {
  const { write, begin, cwd } = newProject();
  write('sub/x', '');
  const fresh = begin();
  write(file, 'one');
  expect(await fresh.changesIn('sub')).toStrictEqual([file]);
  expect(await fresh.messageIn('.')).toBe(
    `NEXT.md: ${join(cwd, file)} is new since the run began, and Claude Code starts programs from it; check it, then \`raymond resume r1\` accepts it`,
  );
  const begun = begin();
  expect(await begun.changesIn('sub')).toStrictEqual([]);
  write(file, 'two');
  expect(await begun.changesIn('.')).toStrictEqual([file]);
  expect(await begun.messageIn('sub')).toContain(`${join(cwd, file)} has changed since the run began`);
  write(file, 'one');
  expect(await begun.changesIn('.')).toStrictEqual([]);
});

test('files that start nothing do not count', async () => {
  const { write, begin } = newProject();
  const run = begin();
  for (const file of ['CLAUDE.md', '.claude/CLAUDE.md', '.claude/skills/x/data.json', '.claude/worktrees/x/a.sh'])
    write(file, 'x');
  write('../home/.claude/settings.json', '{}');
  expect(await run.changesIn('.')).toStrictEqual([]);
  expect(await run.changesIn('../home')).toStrictEqual([]);
});

test('a folder that is used later may have what was there before the run', async () => {
  const { write, begin } = newProject();
  write(`../other/${SETTINGS}`, 'one');
  await untilLater();
  const run = begin();
  expect(await run.changesIn('../other')).toStrictEqual([]);
  write(`../other/${SETTINGS}`, 'two');
  expect(await run.changesIn('../other')).toStrictEqual([`../other/${SETTINGS}`]);
});

test('a new link to a folder with older settings counts as new', async () => {
  const { cwd, write, begin } = newProject();
  write(`../other/${SETTINGS}`, 'one');
  write('sub/x', '');
  await untilLater();
  const run = begin();
  await untilLater();
  symlinkSync(join(cwd, '../other/.claude'), join(cwd, 'sub/.claude'));
  expect(await run.changesIn('sub')).toStrictEqual([`sub/${SETTINGS}`]);
});

test('a worktree may have what the commit at the start has, also where the project differs from it', async () => {
  const { write, commit, runGit, begin } = newProject({ git: true });
  write(SETTINGS, 'committed\n');
  write(`sub/${SETTINGS}`, 'committed below');
  commit();
  write(SETTINGS, 'edited');
  await untilLater();
  const run = begin();
  runGit('worktree', 'add', '--quiet', '--detach', '../tree');
  expect(await run.changesIn('../tree/sub')).toStrictEqual([]);
  write(`../tree/${SETTINGS}`, 'edited');
  expect(await run.changesIn('../tree/sub')).toStrictEqual([]);
  write(`../tree/sub/${SETTINGS}`, 'planted');
  expect(await run.changesIn('../tree/sub')).toStrictEqual([`../tree/sub/${SETTINGS}`]);
});

test('a commit that is made during the run permits nothing', async () => {
  const { write, commit, runGit, begin } = newProject({ git: true });
  write('x', 'x');
  commit();
  await untilLater();
  const run = begin();
  write(SETTINGS, 'planted');
  commit(2_000);
  runGit('worktree', 'add', '--quiet', '--detach', '../tree');
  expect(await run.changesIn('../tree')).toStrictEqual([`../tree/${SETTINGS}`]);
});

test('a repository without a commit at the start permits nothing', async () => {
  const { write, commit, begin } = newProject({ git: true });
  const run = begin();
  write(SETTINGS, 'planted');
  commit(2_000);
  expect(await run.changesIn('.')).toStrictEqual([SETTINGS]);
});

test('a clone may have what it was cloned with', async () => {
  const { write, commit, runGit, begin } = newProject({ git: true });
  write(SETTINGS, 'committed');
  const base = commit();
  runGit('rm', '--quiet', SETTINGS);
  commit();
  await untilLater();
  const run = begin();
  runGit('clone', '--quiet', '.', '../clone');
  runGit('-C', '../clone', 'checkout', '--quiet', base);
  expect(await run.changesIn('../clone', base)).toStrictEqual([]);
  write(`../clone/${SETTINGS}`, 'planted');
  expect(await run.changesIn('../clone', base)).toStrictEqual([`../clone/${SETTINGS}`]);
});

test('a node may have other settings than the machine that the run was started on, if they are older', async () => {
  const { write, begin } = newProject({ isNode: true });
  write(SETTINGS, 'of the node');
  await untilLater();
  const run = begin();
  expect(await run.changesIn('.')).toStrictEqual([]);
  write('.mcp.json', 'planted');
  expect(await run.changesIn('.')).toStrictEqual(['.mcp.json']);
});

test('a person accepts the content that a pause has told of, for all copies of the file', async () => {
  const { cwd, write, begin } = newProject();
  const run = begin();
  write(`sub/${SETTINGS}`, 'one');
  expect(await run.acceptIn('sub')).toStrictEqual([join(cwd, 'sub', SETTINGS)]);
  write(`other/${SETTINGS}`, 'one');
  expect(await run.changesIn('sub')).toStrictEqual([]);
  expect(await run.changesIn('other')).toStrictEqual([]);
  write(`sub/${SETTINGS}`, 'two');
  expect(await run.changesIn('sub')).toStrictEqual([`sub/${SETTINGS}`]);
});

test('a person accepts what changed after the run had ended', async () => {
  const { cwd, write, begin } = newProject();
  const run = begin();
  write(SETTINGS, 'during');
  await untilLater();
  const endedAt = Date.now();
  await untilLater();
  write('.mcp.json', 'after');
  expect(await run.acceptIn('.', endedAt)).toStrictEqual([join(cwd, '.mcp.json')]);
  expect(await run.changesIn('.')).toStrictEqual([SETTINGS]);
});

test('the code of an older run has no settings yet', () => {
  expect(hasSettings(NO_CODE_YET)).toBe(false);
});
