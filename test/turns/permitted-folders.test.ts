import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runWorkflow } from '../../src/app/start.ts';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import type { Event } from '../../src/core/run/event.ts';
import { createFolderJudge } from '../../src/turns/permitted-folders.ts';
import { git } from '../git.ts';
import { newTurnContext } from './turn-context.ts';

/** A folder with a project in it that a run is started in, with its workflow, and other folders beside that. */
function newFolders(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-folders-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  for (const name of [
    'project/src',
    'project/wf/sub',
    'project/.git/hooks',
    'project/.raymond/tasks/r/main/sub',
    'project/.raymond/tasks/r/main_work1',
    'project/.raymond/tasks/r/shared',
    'other/sub',
    'home/a1',
  ])
    mkdirSync(join(root, name), { recursive: true });
  return root;
}

const OUTSIDE =
  'it is neither in the folder that the run was started in nor a worktree of its repository; `cd` in the policy of the state, or `allow_cd` in config.toml, can permit it';
const GUARDED =
  'what is written there can run programs; `cd` in the policy of the state, or `allow_cd` in config.toml, can permit it';
const WORKFLOW = 'it belongs to the workflow itself, which no prompt may change';

/** What is said of a `cd` to this folder below the root. */
function judge(root: string, path: string, allowCd: readonly string[] = [], policyCd?: string, start = 'project') {
  const context = newTurnContext(root, {
    startFolder: join(root, start),
    workflowFolders: () => [join(root, 'project', 'wf')],
    options: { ...DEFAULT_OPTIONS, allowCd },
    env: { HOME: join(root, 'home') },
  });
  const policy =
    policyCd === undefined ? [] : [{ tag: 'reset', target: 'A.md', attributes: { cd: policyCd } } as const];
  const turn = {
    policy,
    cwd: join(root, 'project'),
    taskFolder: join(root, 'project/.raymond/tasks/r/main'),
    runFolder: join(root, 'project/.raymond/tasks/r/shared'),
  };
  return createFolderJudge(context, turn)(join(root, path));
}

test.each([
  ['project', undefined],
  ['project/src', undefined],
  ['.', OUTSIDE],
  ['other', OUTSIDE],
  ['home', OUTSIDE],
  ['project/.git', GUARDED],
  ['project/.git/hooks', GUARDED],
  ['project/.raymond', GUARDED],
  ['project/.raymond/tasks/r/main', undefined],
  ['project/.raymond/tasks/r/main/sub', undefined],
  ['project/.raymond/tasks/r/shared', undefined],
  ['project/.raymond/tasks/r', GUARDED],
  ['project/.raymond/tasks/r/main_work1', GUARDED],
  ['project/wf', WORKFLOW],
  ['project/wf/sub', WORKFLOW],
])('a prompt that changes to %s hears: %s', async (path, message) => {
  expect(await judge(newFolders(), path)).toBe(message);
});

test('a link counts as what it leads to', async () => {
  const root = newFolders();
  symlinkSync('../other', join(root, 'project', 'out'));
  symlinkSync('project/src', join(root, 'in'));
  expect([await judge(root, 'project/out'), await judge(root, 'in')]).toStrictEqual([OUTSIDE, undefined]);
});

test.each([
  [['../other'], 'other/sub', undefined],
  [['../oth*'], 'other', undefined],
  [['../oth*'], 'other/sub', undefined],
  [['../*/sub'], 'other', OUTSIDE],
  [['../*/sub'], 'other/sub', undefined],
  [['~/a?'], 'home/a1', undefined],
  [['~/a?'], 'home', OUTSIDE],
  [['/**/a1'], 'home/a1', undefined],
  [['../project/wf'], 'project/wf', WORKFLOW],
  [['../**'], 'project/wf', WORKFLOW],
])('allow_cd = %j permits: %s', async (globs, path, message) => {
  expect(await judge(newFolders(), path, globs)).toBe(message);
});

test('what the policy of the state names is permitted, a glob too', async () => {
  const root = newFolders();
  expect(await judge(root, 'other', [], '../other')).toBeUndefined();
  expect(await judge(root, 'other', [], '../o*')).toBeUndefined();
  expect(await judge(root, 'home', [], '../o*')).toBe(OUTSIDE);
});

/** What is said of a `cd` to a folder of a run that was started now, after this was made. */
async function judgeAfter(make: (project: string) => void, path: string, policyCd?: string) {
  const root = newFolders();
  rmSync(join(root, 'project/.git'), { recursive: true });
  git(join(root, 'project'), 'init', '-q');
  const old = join(root, 'project/old');
  mkdirSync(old);
  git(old, 'init', '-q');
  // The clock of the disk ticks a few milliseconds late.
  const startedAt = Date.now() + 20;
  while (Date.now() <= startedAt + 20);
  make(join(root, 'project'));
  const context = newTurnContext(root, { startFolder: join(root, 'project'), startedAt });
  const policy =
    policyCd === undefined ? [] : [{ tag: 'reset', target: 'A.md', attributes: { cd: policyCd } } as const];
  const turn = {
    policy,
    cwd: join(root, 'project'),
    taskFolder: join(root, 'project/.raymond/tasks/r/main'),
    runFolder: null,
  };
  const say = createFolderJudge(context, turn);
  return { entered: await say(join(root, path)), read: await say(join(root, path), 'read') };
}

const bareIn = (folder: string): void => {
  for (const name of ['objects', 'refs']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
};

describe('a folder that has become a repository since the run started', () => {
  test.each<[string, (project: string) => void, string]>([
    ['a bare one', (project) => bareIn(join(project, 'src')), 'project/src'],
    ['half of a bare one', (project) => writeFileSync(join(project, 'src/HEAD'), ''), ''],
    ['one with a .git folder', (project) => git(join(project, 'src'), 'init', '-q'), 'project/src'],
    ['an empty .git file', (project) => writeFileSync(join(project, 'src/.git'), ''), 'project/src'],
    [
      'an old one whose .git leads elsewhere',
      (project) => {
        renameSync(join(project, 'old/.git'), join(project, 'moved'));
        writeFileSync(join(project, 'old/.git'), 'gitdir: ../moved\n');
      },
      'project/old',
    ],
    [
      'one above the folder',
      (project) => {
        bareIn(join(project, 'src'));
        mkdirSync(join(project, 'src/a/b'), { recursive: true });
      },
      'project/src/a/b',
    ],
    ['a task folder', (project) => bareIn(join(project, '.raymond/tasks/r/main')), 'project/.raymond/tasks/r/main/sub'],
  ])('is refused: %s', async (_, make, path) => {
    if (path === '') {
      // One file is no repository for any version of git.
      expect(await judgeAfter(make, 'project/src')).toStrictEqual({ entered: undefined, read: undefined });
      return;
    }
    expect(await judgeAfter(make, path)).toStrictEqual({
      entered: expect.stringMatching(
        / has become a git repository since the run started, or its settings have changed, and git starts programs/,
      ),
      read: undefined,
    });
  });

  test.each<[string, (project: string) => void, string, string?]>([
    ['one that was there before', () => {}, 'project/old'],
    ['the folder of the run itself', bareIn, 'project/src'],
    ['one that the policy names', (project) => git(join(project, 'src'), 'init', '-q'), 'project/src', 'src'],
    [
      'a submodule of the repository',
      (project) => {
        git(join(project, 'old'), 'commit', '-q', '--allow-empty', '-m', 'first');
        const add = ['submodule', '--quiet', 'add', join(project, 'old'), 'module'];
        git(project, '-c', 'protocol.file.allow=always', ...add);
      },
      'project/module',
    ],
  ])('is permitted: %s', async (_, make, path, policyCd) => {
    expect((await judgeAfter(make, path, policyCd)).entered).toBeUndefined();
  });

  test('a bare one is refused although the policy names it', async () => {
    const { entered } = await judgeAfter((project) => bareIn(join(project, 'src')), 'project/src', 'src');
    expect(entered).toMatch(/ has become a git repository since the run started/);
  });
});

test('a run that was started in the folder of its workflow may stay there', async () => {
  expect(await judge(newFolders(), 'project/wf/sub', [], undefined, 'project/wf')).toBeUndefined();
});

test('the clone that an agent works in is permitted, but not what runs programs in it', async () => {
  const root = newFolders();
  for (const name of ['clone/sub', 'clone/.git/hooks']) mkdirSync(join(root, name), { recursive: true });
  const turn = { policy: [], cwd: join(root, 'clone'), taskFolder: null, runFolder: null };
  const say = createFolderJudge(
    newTurnContext(root, { startFolder: join(root, 'project') }),
    turn,
    join(root, 'clone'),
  );
  expect(await say(join(root, 'clone/sub'))).toBeUndefined();
  expect(await say(join(root, 'clone/.git/hooks'))).toBe(OUTSIDE);
  expect(await say(join(root, 'other'))).toBe(OUTSIDE);
});

test('registered worktrees are permitted, but not a folder that only the repository claims', async () => {
  const root = newFolders();
  rmSync(join(root, 'project', '.git'), { recursive: true });
  const project = join(root, 'project');
  git(project, 'init', '-q');
  git(project, 'commit', '-q', '--allow-empty', '-m', 'first');
  git(project, 'worktree', 'add', '-q', '../tree', '-b', 'tree');
  mkdirSync(join(root, 'tree', 'deep'));
  expect(await judge(root, 'tree')).toBeUndefined();
  expect(await judge(root, 'tree/deep')).toBeUndefined();
  // From a worktree, its siblings are permitted and the main one is not.
  git(project, 'worktree', 'add', '-q', '../tree2', '-b', 'tree2');
  expect(await judge(root, 'tree2', [], undefined, 'tree')).toBeUndefined();
  expect(await judge(root, 'project/src', [], undefined, 'tree')).toBe(OUTSIDE);
  const forged = join(root, 'project', '.git', 'worktrees', 'forged', 'gitdir');
  mkdirSync(dirname(forged));
  writeFileSync(forged, `${join(root, 'other', '.git')}\n`);
  expect(await judge(root, 'other')).toBe(OUTSIDE);
});

/** Runs one state that changes to a folder outside, and tells what was said about it. */
async function play(files: Readonly<Record<string, string>>, answers: object, allowCd: readonly string[] = []) {
  const root = newFolders();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'project', 'wf', name), text);
  writeFileSync(join(root, 'answers.json'), JSON.stringify({ answers }));
  const events: Event[] = [];
  const running = await runWorkflow('wf', {
    cwd: join(root, 'project'),
    options: { agent: `replay:${join(root, 'answers.json')}`, allowCd },
    observe: (event) => events.push(event),
  });
  const { agents } = await running.finished;
  const reminders = events.flatMap((event) => (event.kind === 'reminded' ? event.message : []));
  return { reminders, cwd: agents[0]?.cwd.slice(root.length + 1), phase: agents[0]?.phase.kind };
}

const NEXT = { 'NEXT.sh': 'echo "<result>r</result>"\n' };

test('a prompt is reminded that it may not change to a folder outside, and then continues', async () => {
  const answers = { START: { turns: ['<reset cd="../other">NEXT</reset>', '<reset cd="src">NEXT</reset>'] } };
  expect(await play({ 'START.md': 'Go.\n', ...NEXT }, answers)).toStrictEqual({
    reminders: [`\`<reset>NEXT</reset>\` (line 1): this state may not change to \`../other\`: ${OUTSIDE}`],
    cwd: 'project/src',
    phase: 'ended',
  });
});

test('allow_cd permits it, and a script needs no permission', async () => {
  const outside = '<reset cd="../other">NEXT</reset>';
  const arrived = { reminders: [], cwd: 'other', phase: 'ended' };
  expect(await play({ 'START.md': 'Go.\n', ...NEXT }, { START: outside }, ['../other'])).toStrictEqual(arrived);
  expect(await play({ 'START.sh': `echo '${outside}'\n`, ...NEXT }, {})).toStrictEqual(arrived);
});

test('a glob in a policy matches folders, and leaves open which one it is', async () => {
  const policy = '---\nallowed_transitions:\n  - { tag: reset, target: NEXT.sh, cd: "../o*" }\n---\nGo.\n';
  const answers = { START: { turns: ['Done.', '<reset cd="../other">NEXT.sh</reset>'] } };
  expect(await play({ 'START.md': policy, ...NEXT }, answers)).toStrictEqual({
    reminders: ['it contains no tag'],
    cwd: 'other',
    phase: 'ended',
  });
});
