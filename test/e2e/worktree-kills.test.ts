/*
 * Kills within `git worktree add`, with the built command and real git. Git itself makes the window wide: it runs something
 * that waits at a gate, once, when the branch is there, when half of the files are there, and when all of them are.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { endMarked } from '../../src/process/end.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { type EndedCommand, type StartedCommand, signalProcess, startCommand, until } from '../built-command.ts';
import { worktreesFolder } from '../worktrees-folder.ts';

const WORKFLOW = {
  'START.sh': `echo '<fork worktree="auto">EDIT</fork><join>MERGE</join>'`,
  'EDIT.sh': `echo "in $PWD" >> "$EFFECTS"; cat one.txt two.txt > both.txt
git add both.txt && git -c user.name=a -c user.email=a@b commit -qm both && echo "<result>did</result>"`,
  'MERGE.sh': 'cp "$RAYMOND_RESULTS_FILE" "$EFFECTS.json"; echo "<result>merged</result>"',
};

/** Where git stands when something is killed. */
const INSTANTS = ['once the branch is there', 'while files are checked out', 'once all files are there'] as const;

/** A repository whose git waits at an instant, the first time it comes to it, and the run that is started in it. */
interface Scene {
  readonly id: string;
  start(): StartedCommand;
  resume(): StartedCommand;
  /** Waits until git has come to the instant; its process. */
  reached(): Promise<number>;
  openGate(): void;
  git(...args: readonly string[]): string;
  /** What is left in the repository and of the run: worktrees, branches, locks, processes. */
  leftovers(): Promise<unknown>;
  effects(): readonly string[];
  results(): unknown;
}

function setScene({ onTestFinished }: TestContext, instant: (typeof INSTANTS)[number]): Scene {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-trees-')));
  const id = `trees-${home.slice(-6)}`;
  const [repository, workflow, effects] = [join(home, 'project'), join(home, 'workflow'), join(home, 'effects')];
  const [gate, at] = [join(home, 'gate'), join(home, 'at')];
  mkdirSync(workflow);
  for (const [name, text] of Object.entries(WORKFLOW)) writeFileSync(join(workflow, name), text);
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  mkdirSync(repository);
  git('init', '-q', '-b', 'trunk');
  for (const name of ['one.txt', 'two.txt']) writeFileSync(join(repository, name), `${name}\n`);
  writeFileSync(join(repository, '.gitattributes'), 'two.txt filter=waits\n');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first');
  // The first to come here writes down which git it works for, and waits.
  const wait = `if mkdir '${home}/once' 2>/dev/null; then echo "$PPID" > '${at}.new'; mv '${at}.new' '${at}'; until [ -e '${gate}' ]; do sleep 0.02; done; fi`;
  // Of the user: those of the repository do not count.
  const config = join(home, 'config');
  const hook = (name: string, text: string) => {
    mkdirSync(join(home, 'hooks'));
    git('config', '--file', config, 'core.hooksPath', join(home, 'hooks'));
    writeFileSync(join(home, 'hooks', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };
  if (instant === INSTANTS[0]) hook('reference-transaction', `[ "$1" = committed ] || exit 0\n${wait}`);
  if (instant === INSTANTS[1]) {
    // Git starts the filter in a shell of its own.
    writeFileSync(join(home, 'filter'), `#!/bin/sh\n${wait}\ncat\n`, { mode: 0o755 });
    git('config', '--file', config, 'filter.waits.smudge', `exec '${home}/filter'`);
  }
  if (instant === INSTANTS[2]) hook('post-checkout', wait);
  const commands: StartedCommand[] = [];
  const start = (...args: readonly string[]): StartedCommand => {
    const command = startCommand(args, repository, {
      ...process.env,
      GIT_CONFIG_GLOBAL: config,
      TMPDIR: home,
      EFFECTS: effects,
    });
    commands.push(command);
    return command;
  };
  onTestFinished(async () => {
    writeFileSync(gate, '');
    for (const command of commands) await command.kill();
    await endMarked(`${id}/`, { graceMs: 0 });
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
  const inGit = (...path: readonly string[]): readonly string[] =>
    existsSync(join(repository, '.git', ...path)) ? readdirSync(join(repository, '.git', ...path)) : [];
  return {
    id,
    start: () => start('run', workflow, '--run-id', id),
    resume: () => start('resume', id),
    async reached() {
      await until(() => existsSync(at), 'git to come to the instant');
      return Number(readFileSync(at, 'utf8'));
    },
    openGate: () => writeFileSync(gate, ''),
    git,
    async leftovers() {
      const folders = worktreesFolder(repository, id);
      return {
        worktrees: git('worktree', 'list', '--porcelain').match(/^(?:worktree|branch) .*$/gm),
        registered: inGit('worktrees'),
        folders: existsSync(folders) ? readdirSync(folders) : [],
        branches: git('branch', '--format=%(refname:short)').split('\n'),
        locks: readdirSync(join(repository, '.git'), { recursive: true }).filter((name) => `${name}`.endsWith('.lock')),
        processes: await findMarkedProcesses(`${id}/`),
      };
    },
    effects: () => (existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n') : []),
    results: () => JSON.parse(readFileSync(`${effects}.json`, 'utf8')),
  };
}

/** Checks that a run has ended as one to which nothing happened. */
async function expectWholeRun(scene: Scene, { code, stdout, stderr }: EndedCommand): Promise<void> {
  expect([code, stdout], stderr).toStrictEqual([0, 'merged\n']);
  const branch = `raymond/${scene.id}/main_edit1`;
  const [repository = ''] = scene.git('rev-parse', '--show-toplevel').split('\n');
  const tree = join(worktreesFolder(repository, scene.id), 'main_edit1');
  expect(scene.effects()).toStrictEqual([`in ${tree}`]);
  expect(scene.results()).toMatchObject([{ status: 'ended', result: 'did', branch, commits: 1, dirty: false }]);
  expect(scene.git('show', `${branch}:both.txt`)).toBe('one.txt\ntwo.txt');
  expect(await scene.leftovers()).toStrictEqual({
    worktrees: [`worktree ${repository}`, 'branch refs/heads/trunk', `worktree ${tree}`, `branch refs/heads/${branch}`],
    registered: ['main_edit1'],
    folders: ['main_edit1'],
    branches: [branch, 'trunk'],
    locks: [],
    processes: [],
  });
}

describe.skipIf(process.platform === 'win32')(
  'a kill within `git worktree add` (needs a POSIX shell)',
  { timeout: 120_000 },
  () => {
    describe.concurrent.each(INSTANTS)('%s', (instant) => {
      test('of Raymond: git is ended by the resume, and there is one worktree', async (context) => {
        const scene = setScene(context, instant);
        const first = scene.start();
        await scene.reached();
        expect(await first.kill()).toMatchObject({ signal: 'SIGKILL' });
        await expectWholeRun(scene, await scene.resume().ended);
      });

      test('of Raymond and of git: what is half made is made again', async (context) => {
        const scene = setScene(context, instant);
        const first = scene.start();
        const git = await scene.reached();
        await first.kill();
        signalProcess(git, 'SIGKILL');
        scene.openGate();
        await expectWholeRun(scene, await scene.resume().ended);
      });

      test('of git alone: the run does not even notice', async (context) => {
        const scene = setScene(context, instant);
        const run = scene.start();
        signalProcess(await scene.reached(), 'SIGKILL');
        scene.openGate();
        await expectWholeRun(scene, await run.ended);
      });
    });
  },
);
