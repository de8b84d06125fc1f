/*
 * Kills within `git clone` and `git push`, with the built command and real git. Git itself makes the window wide: it runs something that
 * waits at a gate, once.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
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
import { type StartedCommand, signalProcess, startCommand, until } from '../built-command.ts';
import { worktreesFolder } from '../worktrees-folder.ts';

/** Where git stands when something is killed. */
const INSTANTS = [
  'while objects are fetched',
  'while files are checked out',
  'before the repository takes a push',
  'once the repository has taken a push',
] as const;

/** The script waits at the gate with its work committed and its result printed. */
const LAST_TURN = 'in the last turn';

const COMMIT = 'git add . && git -c user.name=a -c user.email=a@b commit -qm both';

interface Scene {
  readonly id: string;
  readonly folder: string;
  start(...args: readonly string[]): StartedCommand;
  /** Waits until git has come to the instant; its process. */
  reached(): Promise<number>;
  openGate(): void;
  git(...args: readonly string[]): string;
  effects(): readonly string[];
}

function setScene({ onTestFinished }: TestContext, instant: (typeof INSTANTS)[number] | typeof LAST_TURN): Scene {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-clone-')));
  const id = `clone-${home.slice(-6)}`;
  const [folder, remote, effects] = [join(home, 'desk'), join(home, 'remote.git'), join(home, 'effects')];
  const [gate, at, config] = [join(home, 'gate'), join(home, 'at'), join(home, 'config')];
  for (const name of ['desk', 'workflow', 'source']) mkdirSync(join(home, name));
  const gitIn = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  const source = join(home, 'source');
  for (const name of ['one.txt', 'two.txt']) writeFileSync(join(source, name), `${name}\n`);
  writeFileSync(join(source, '.gitattributes'), 'two.txt filter=waits\n');
  gitIn(source, 'init', '-q', '-b', 'trunk');
  execFileSync('bash', ['-c', COMMIT], { cwd: source });
  gitIn(home, 'clone', '-q', '--bare', 'source', remote);
  // The first to come here writes down which git it works for, and waits.
  const wait = `if mkdir '${home}/once' 2>/dev/null; then echo "$PPID" > '${at}.new'; mv '${at}.new' '${at}'; until [ -e '${gate}' ]; do sleep 0.02; done; fi`;
  const atEnd = instant === LAST_TURN ? `; ${wait}` : '';
  const script = `echo "in $PWD" >> "$EFFECTS"; cat one.txt two.txt > both.txt; ${COMMIT} && echo "<result>did</result>"${atEnd}`;
  writeFileSync(join(home, 'workflow/START.sh'), script);
  const program = (path: string, text: string): string => {
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  writeFileSync(config, '');
  const configure = (key: string, value: string) => gitIn(home, 'config', '--file', config, key, value);
  if (instant === INSTANTS[0])
    configure('uploadpack.packObjectsHook', program(join(home, 'pack'), `${wait}\nexec "$@"`));
  if (instant === INSTANTS[1])
    configure('filter.waits.smudge', `exec '${program(join(home, 'filter'), `${wait}\ncat`)}'`);
  if (instant === INSTANTS[2]) program(join(remote, 'hooks/pre-receive'), wait);
  if (instant === INSTANTS[3]) program(join(remote, 'hooks/post-receive'), wait);
  const commands: StartedCommand[] = [];
  onTestFinished(async () => {
    writeFileSync(gate, '');
    for (const command of commands) await command.kill();
    await endMarked(`${id}/`, { graceMs: 0 });
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    id,
    folder,
    start(...args) {
      const env = { ...process.env, EFFECTS: effects, GIT_CONFIG_GLOBAL: config, TMPDIR: home };
      // As over a network: a clone from a path only copies files.
      const words =
        args[0] === 'run' ? ['run', '../workflow', '--run-id', id, '--workspace', `file://${remote}`] : args;
      const command = startCommand(words, folder, env);
      commands.push(command);
      return command;
    },
    async reached() {
      await until(() => existsSync(at), 'git to come to the instant');
      return Number(readFileSync(at, 'utf8'));
    },
    openGate: () => writeFileSync(gate, ''),
    git: (...args) => gitIn(remote, ...args),
    effects: () => (existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n') : []),
  };
}

describe.skipIf(process.platform === 'win32')(
  'a kill within a clone or a push (needs a POSIX shell)',
  { timeout: 120_000 },
  () => {
    test.concurrent.for(INSTANTS)('%s: the resume does it again, and nothing else', async (instant, context) => {
      const scene = setScene(context, instant);
      const first = scene.start('run');
      const git = await scene.reached();
      expect(await first.kill()).toMatchObject({ signal: 'SIGKILL' });
      // Git itself is killed in every second case; else it is ended by the resume.
      if (INSTANTS.indexOf(instant) % 2 === 0) signalProcess(git, 'SIGKILL');
      if (INSTANTS.indexOf(instant) % 2 === 0) scene.openGate();
      await expectPushed(scene, scene.start('resume', scene.id));
    });

    test.concurrent.for(['before', 'during'] as const)(
      'in the last turn, which ends %s the resume: the branch is pushed, and the clone is left',
      async (when, context) => {
        const scene = setScene(context, LAST_TURN);
        const first = scene.start('run');
        await scene.reached();
        expect(await first.kill()).toMatchObject({ signal: 'SIGKILL' });
        if (when === 'before') scene.openGate();
        if (when === 'before')
          await until(async () => (await findMarkedProcesses(`${scene.id}/`)).length === 0, 'the turn to end');
        const resumed = scene.start('resume', scene.id);
        if (when === 'during') await resumed.said('main');
        if (when === 'during') scene.openGate();
        await expectPushed(scene, resumed);
        expect((await scene.start('worktrees').ended).stderr).toContain('No worker has left a worktree here');
      },
    );
  },
);

async function expectPushed(scene: Scene, resumed: StartedCommand): Promise<void> {
  const { code, stdout, stderr } = await resumed.ended;
  expect([code, stdout], stderr).toStrictEqual([0, 'did\n']);
  expect(scene.effects()).toStrictEqual([`in ${join(worktreesFolder(scene.folder, scene.id), 'main')}`]);
  expect(scene.git('show', `raymond/${scene.id}/main:both.txt`)).toBe('one.txt\ntwo.txt');
  expect(scene.git('rev-list', '--count', `trunk..raymond/${scene.id}/main`)).toBe('1');
  const worktrees = worktreesFolder(scene.folder, scene.id);
  expect(existsSync(worktrees) ? readdirSync(worktrees) : []).toStrictEqual([]);
  expect(await findMarkedProcesses(`${scene.id}/`)).toStrictEqual([]);
}
