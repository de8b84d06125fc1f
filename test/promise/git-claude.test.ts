import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import type { Pinned } from '../claude-code/pinned.ts';
import { type Rig, runToEnd, setUp, textReply, withEachClaude } from '../e2e/rig.ts';
import { git } from '../git.ts';

/** Files by their paths below the folder that the run is started in. */
type Files = Readonly<Record<string, string>>;

/** The settings of a repository that name programs; each leaves a trace in the folder above the project. */
const settings = (trace: string, worktree?: string): string => `[core]
	repositoryformatversion = 0
	bare = false
	${worktree === undefined ? '' : `worktree = ${worktree}`}
	fsmonitor = "touch '${trace}';"
	hooksPath = hooks
	pager = "touch '${trace}'; cat"
	sshCommand = "touch '${trace}';"
[filter "x"]
	clean = "touch '${trace}'; cat"
	smudge = "touch '${trace}'; cat"
[diff]
	external = "touch '${trace}';"
`;

/** What a prompt can write to make a folder look like a repository. */
const repositoryFiles = (folder: string, trace: string, worktree?: string): Files => ({
  [join(folder, 'HEAD')]: 'ref: refs/heads/main\n',
  [join(folder, 'config')]: settings(trace, worktree),
  [join(folder, 'objects/x')]: '',
  [join(folder, 'refs/heads/x')]: '',
});

const writes = (cwd: string, files: Files): string =>
  Object.entries(files)
    .flatMap(([path, content]) => [
      // What is there already has to be read first.
      `«tool Read ${JSON.stringify({ file_path: join(cwd, path) })}»`,
      `«tool Write ${JSON.stringify({ file_path: join(cwd, path), content })}»`,
    ])
    .join(' ');

interface Attack {
  /** The project before the run starts; it is a repository if this says so. */
  readonly before?: (cwd: string) => void;
  readonly files: (trace: string, cwd: string) => Files;
  /** How the next state is entered. */
  readonly next: string;
}

/** Lets an agent that may only edit files write these, and continue in a new conversation; returns what came of it. */
async function attack(context: TestContext, pinned: Pinned, { before, files, next }: Attack) {
  const rig: Rig = await setUp(context, pinned, {
    states: { 'START.md': '', 'NEXT.md': 'I am NEXT «say <result>entered</result>»' },
    options: { permissionMode: 'acceptEdits' },
    script: ({ prompt }) => (prompt.startsWith('I am') ? undefined : textReply('<result>refused</result>')),
  });
  const trace = join(dirname(rig.cwd), 'trace');
  before?.(rig.cwd);
  await mkdir(join(rig.cwd, 'plain'), { recursive: true });
  const start = `I am START ${writes(rig.cwd, files(trace, rig.cwd))} «say ${next}»`;
  await writeFile(join(dirname(rig.cwd), 'workflow', 'START.md'), start);
  const run = await runToEnd(rig);
  const [main] = run.agents;
  return { hasStarted: existsSync(trace), phase: main?.phase };
}

const aRepository = (cwd: string): void => {
  git(cwd, 'init', '-q');
  git(cwd, 'commit', '-q', '--allow-empty', '-m', 'first');
};

/** A repository in the folder `plain`, whose own folder is elsewhere in the project. */
const aRepositoryWithSettingsIn = (cwd: string, folder: string): void => {
  mkdirSync(join(cwd, dirname(folder)), { recursive: true });
  git(cwd, 'init', '-q', `--separate-git-dir=${folder}`, 'plain');
  git(join(cwd, 'plain'), 'commit', '-q', '--allow-empty', '-m', 'first');
};

const REFUSED = { kind: 'ended', result: 'refused' };
const ENTERED = { kind: 'ended', result: 'entered' };

withEachClaude('No program starts that an agent which may only edit files has named in', (pinned) => {
  test.for<[string, Attack, unknown]>([
    [
      'a folder that it made a bare repository, when it goes there',
      { files: (trace) => repositoryFiles('sub', trace), next: '<reset cd="sub">NEXT</reset>' },
      REFUSED,
    ],
    [
      'one whose files are elsewhere',
      {
        before: aRepository,
        files: (trace, cwd) => repositoryFiles('sub', trace, cwd),
        next: '<reset cd="sub">NEXT</reset>',
      },
      REFUSED,
    ],
    [
      'one above the folder that it goes to',
      {
        before: aRepository,
        files: (trace, cwd) => ({ ...repositoryFiles('sub', trace, cwd), 'sub/a/b/x': '' }),
        next: '<fork cd="sub/a/b" next="NEXT">NEXT</fork>',
      },
      REFUSED,
    ],
    [
      'the folder of the run, when a new conversation begins there',
      { files: (trace, cwd) => repositoryFiles('.', trace, cwd), next: '<reset>NEXT</reset>' },
      ENTERED,
    ],
    // Claude Code itself lets no agent write there.
    [
      'the settings of the project',
      { before: aRepository, files: (trace) => ({ '.git/config': settings(trace) }), next: '<reset>NEXT</reset>' },
      ENTERED,
    ],
    [
      'a repository that a file `.git` names',
      {
        files: (trace) => ({ ...repositoryFiles('evil', trace, '../plain'), 'plain/.git': 'gitdir: ../evil\n' }),
        next: '<reset cd="plain">NEXT</reset>',
      },
      ENTERED,
    ],
    [
      'a repository that keeps its settings in another folder, and was there before',
      {
        before: (cwd) => aRepositoryWithSettingsIn(cwd, 'data/git'),
        files: (trace) => ({ 'data/git/config': settings(trace) }),
        next: '<reset cd="plain">NEXT</reset>',
      },
      REFUSED,
    ],
    [
      'one that a link `.git` leads to',
      {
        before: (cwd) => {
          aRepositoryWithSettingsIn(cwd, 'data/git');
          rmSync(join(cwd, 'plain/.git'));
          symlinkSync('../data/git', join(cwd, 'plain/.git'));
        },
        files: (trace) => ({ 'data/git/config': settings(trace) }),
        next: '<reset cd="plain">NEXT</reset>',
      },
      REFUSED,
    ],
  ])('%s', async ([, each, phase], context) => {
    expect(await attack(context, pinned, each)).toStrictEqual({ hasStarted: false, phase });
  });
});
