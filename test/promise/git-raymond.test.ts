import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkGit } from '../../src/app/doctor/machine.ts';
import { findWorktrees, pruneWorktrees } from '../../src/app/worktrees/worktrees.ts';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import { readStatuses } from '../../src/git/git-status.ts';
import { leaveWorkspace } from '../../src/git/leave-workspace.ts';
import { openWorkspace } from '../../src/git/workspace.ts';
import { closeWorktree, makeWorktree, reopenWorktree } from '../../src/git/worktree.ts';
import { readStartSnapshot } from '../../src/turns/claude/start-checks.ts';
import { git } from '../git.ts';

/*
 * An agent has written one of these repositories. Whatever Raymond then does with git, no program starts that the repository names; each would
 * leave a trace.
 */

const options = { env: process.env };

function newScene() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-promise-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const project = join(root, 'project');
  mkdirSync(join(project, 'sub'), { recursive: true });
  writeFileSync(join(project, 'a.txt'), 'a\n');
  writeFileSync(join(project, '.gitattributes'), '*.txt filter=x diff=x merge=x\n');
  writeFileSync(join(project, '.gitignore'), '.raymond\n');
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'first');
  return { root, project, trace: join(root, 'trace') };
}

type Scene = ReturnType<typeof newScene>;

const write = (path: string, text: string, mode = 0o755): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
};

const HOOKS = ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-push', 'fsmonitor-watchman'];

/** All settings of git that name a program, as far as they could matter here. */
const hostileConfig = (program: string): string => `[core]
	fsmonitor = "${program};"
	sshCommand = "${program};"
	alternateRefsCommand = "${program};"
	pager = "${program}; cat"
	editor = "${program};"
	askPass = "${program};"
	gitProxy = "${program}"
[filter "x"]
	clean = "${program}; cat"
	smudge = "${program}; cat"
	process = "${program};"
	required = true
[diff]
	external = "${program};"
[diff "x"]
	textconv = "${program}; cat"
	command = "${program};"
[merge "x"]
	driver = "${program};"
[credential]
	helper = "!${program};"
[gpg]
	program = "${program}"
[commit]
	gpgSign = true
[remote "origin"]
	uploadpack = "${program};"
	receivepack = "${program};"
[uploadpack]
	packObjectsHook = "${program};"
[protocol "ext"]
	allow = always
[alias]
	status = "!${program}"
	lfs = "!${program}"
[submodule]
	recurse = true
`;

/** Plants settings and hooks in the folder that a repository keeps its own in. */
function plant(commonDir: string, { trace }: Scene, file = 'config'): void {
  const program = `touch '${trace}'`;
  write(
    join(commonDir, file),
    `[core]\n\tbare = false\n\trepositoryformatversion = 0\n${hostileConfig(program)}`,
    0o644,
  );
  for (const name of HOOKS) write(join(commonDir, 'hooks', name), `#!/bin/sh\n${program}\n`);
}

/** A repository out of text files, as an agent can write it. */
function plantWhole(folder: string, scene: Scene, more = ''): void {
  plant(folder, scene);
  write(
    join(folder, 'config'),
    `[core]\n\tbare = false\n\trepositoryformatversion = 0\n${hostileConfig(`touch '${scene.trace}'`)}${more}`,
    0o644,
  );
  write(join(folder, 'HEAD'), 'ref: refs/heads/main\n', 0o644);
  write(join(folder, 'objects/x'), '');
  write(join(folder, 'refs/heads/x'), '');
}

/** Each plants something and returns the folder in which an agent works then. */
const PLANTS: Readonly<Record<string, (scene: Scene) => string>> = {
  'the settings of the project': (scene) => {
    plant(join(scene.project, '.git'), scene);
    return scene.project;
  },
  'hooks in a folder that the settings name': (scene) => {
    const { project, trace } = scene;
    for (const name of HOOKS) write(join(project, 'hooks', name), `#!/bin/sh\ntouch '${trace}'\n`);
    git(project, 'config', 'core.hooksPath', join(project, 'hooks'));
    return project;
  },
  'a file that the settings include': (scene) => {
    const { project, trace } = scene;
    write(join(project, 'included'), hostileConfig(`touch '${trace}'`), 0o644);
    git(project, 'config', 'include.path', '../included');
    git(project, 'config', `includeIf.gitdir:${project}/**.path`, '../included');
    return project;
  },
  'the settings of one worktree': (scene) => {
    git(scene.project, 'config', 'extensions.worktreeConfig', 'true');
    plant(join(scene.project, '.git'), scene, 'config.worktree');
    return scene.project;
  },
  'a folder that looks like a bare repository': (scene) => {
    plantWhole(join(scene.project, 'sub'), scene, `[core]\n\tworktree = ${scene.project}\n`);
    return join(scene.project, 'sub');
  },
  'one above the folder': (scene) => {
    plantWhole(join(scene.project, 'sub'), scene, `[core]\n\tworktree = ${scene.project}\n`);
    mkdirSync(join(scene.project, 'sub/a/b'), { recursive: true });
    return join(scene.project, 'sub/a/b');
  },
  'a .git folder': (scene) => {
    plantWhole(join(scene.project, 'sub/.git'), scene);
    return join(scene.project, 'sub');
  },
  'a .git file that leads elsewhere': (scene) => {
    plantWhole(join(scene.project, 'evil'), scene, `[core]\n\tworktree = ${scene.project}\n`);
    write(join(scene.project, 'sub/.git'), 'gitdir: ../evil\n');
    return join(scene.project, 'sub');
  },
  'a commondir that leads elsewhere': (scene) => {
    plantWhole(join(scene.project, 'evil'), scene);
    write(join(scene.project, '.git/commondir'), '../evil\n');
    return scene.project;
  },
  'a submodule': (scene) => {
    const { project, root } = scene;
    git(root, 'clone', '-q', 'project', 'module');
    git(project, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', join(root, 'module'), 'module');
    git(project, 'commit', '-qm', 'module');
    plantWhole(join(project, 'evil'), scene);
    write(join(project, 'module/.git'), 'gitdir: ../evil\n');
    plant(join(project, '.git/modules/module'), scene);
    return project;
  },
  'a partial clone that fetches by a command': (scene) => {
    const { project, trace } = scene;
    git(project, 'config', 'extensions.partialClone', 'origin');
    git(project, 'config', 'core.repositoryFormatVersion', '1');
    git(project, 'config', 'remote.origin.promisor', 'true');
    git(project, 'config', 'remote.origin.url', `ext::sh -c touch% ${trace}`);
    git(project, 'config', 'protocol.ext.allow', 'always');
    git(project, 'config', 'core.fsmonitor', `touch '${trace}';`);
    const blob = git(project, 'rev-parse', 'HEAD:a.txt');
    rmSync(join(project, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    return project;
  },
  'branches and objects with odd names': (scene) => {
    const { project } = scene;
    plantWhole(join(project, 'evil'), scene);
    plant(join(project, '.git'), scene);
    const commit = readFileSync(join(project, '.git/refs/heads/main'), 'utf8');
    for (const name of ['--upload-pack=touch x', '-c', '$(touch x)', 'a;touch x', 'x..y', 'HEAD', "'", 'é\u0301'])
      write(join(project, '.git/refs/heads', name), commit, 0o644);
    write(join(project, '.git/packed-refs'), `${commit.trim()} refs/heads/--exec=touch\n`, 0o644);
    write(join(project, '.git/objects/info/alternates'), `${join(project, 'evil/objects')}\n"\\043\n`, 0o644);
    write(join(project, '.git/info/attributes'), '* filter=x diff=x merge=x\n', 0o644);
    return project;
  },
};

/** Lets git look at files again. */
const touch = (path: string): void => void (existsSync(path) && utimesSync(path, 1, 1));

test.each(Object.entries(PLANTS))('git of Raymond starts no program of %s', async (_, makePlant) => {
  const scene = newScene();
  const { project, root, trace } = scene;
  // A worktree and a clone that were there before.
  const before = { path: join(project, '.raymond/worktrees/r/main_w1'), branch: 'raymond/r/main_w1', cwd: project };
  const made = await makeWorktree(before, options);
  if ('message' in made) throw new Error(made.message);
  const cwd = makePlant(scene);
  for (const file of [join(project, 'a.txt'), join(made.cwd, 'a.txt')]) touch(file);
  await makeWorktree({ path: join(root, 'w2'), branch: 'raymond/r/main_w2', cwd }, options);
  await readStatuses(cwd, options, ['--porcelain']);
  await readStartSnapshot(cwd, process.env, join(root, 'claude'), 0);
  await checkGit({
    ...options,
    cwd,
    options: DEFAULT_OPTIONS,
    ask: false,
    findClaude: () => Promise.reject(new Error()),
    checkDatabase: null,
  });
  await reopenWorktree(made.place, options);
  await pruneWorktrees(await findWorktrees(project, process.env), process.env, () => {});
  await closeWorktree(made.place, options);
  expect(existsSync(trace)).toBe(false);
  // The plant is armed: plain git starts it.
  for (const args of [['status'], ['worktree', 'add', '-q', join(root, 'w3')], ['ls-files', '-m']])
    spawnSync('git', args, { cwd });
  expect(existsSync(trace)).toBe(true);
});

test('git of Raymond starts no program of the clone that a run works in, nor of a worktree of it', async () => {
  const scene = newScene();
  const { root, project, trace } = scene;
  git(root, 'clone', '-q', '--bare', 'project', 'remote.git');
  const wanted = {
    path: join(root, 'runs/main'),
    branch: 'raymond/r/main',
    source: { git: join(root, 'remote.git'), ref: null },
  };
  const opened = await openWorkspace({ ...wanted, place: null }, options);
  if ('message' in opened) throw new Error(opened.message);
  const { place } = opened;
  writeFileSync(join(place.path, 'new.txt'), 'new\n');
  git(place.path, 'add', '.');
  git(place.path, 'commit', '-qm', 'next');
  plant(place.repository, scene);
  touch(join(place.path, 'a.txt'));
  const worker = { path: join(root, 'runs/main_w1'), branch: 'raymond/r/main_w1', cwd: place.path, workspace: place };
  const made = await makeWorktree(worker, options);
  if ('message' in made) throw new Error(made.message);
  await closeWorktree(made.place, options);
  const left = await leaveWorkspace({ ...wanted, place }, true, options);
  expect([left.content.pushed, existsSync(trace)]).toStrictEqual([true, false]);
  expect(git(join(root, 'remote.git'), 'show', 'raymond/r/main:new.txt')).toBe('new');
  expect(existsSync(project)).toBe(true);
});

test('a folder of hooks that the user names without its place is not looked for in the project', async () => {
  const { project, root, trace } = newScene();
  const config = join(root, 'config');
  git(project, 'config', '--file', config, 'core.hooksPath', '.githooks');
  for (const name of HOOKS) write(join(project, '.githooks', name), `#!/bin/sh\ntouch '${trace}'\n`);
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'hooks');
  const env = { ...process.env, GIT_CONFIG_GLOBAL: config };
  expect(await makeWorktree({ path: join(root, 'w'), branch: 'raymond/r/w', cwd: project }, { env })).toMatchObject({
    cwd: join(root, 'w'),
  });
  expect(existsSync(trace)).toBe(false);
  spawnSync('git', ['worktree', 'add', '-q', join(root, 'w2')], { cwd: project, env });
  expect(existsSync(trace)).toBe(true);
});

test.each(['HEAD', 'config'])('a pipe in the place of %s does not keep Raymond waiting', async (name) => {
  const { project, root } = newScene();
  const path = join(project, '.git', name);
  rmSync(path);
  spawnSync('mkfifo', [path]);
  const made = await makeWorktree({ path: join(root, 'w'), branch: 'raymond/r/w', cwd: project }, options);
  expect(made).toMatchObject({ message: expect.stringContaining('git does not take ') });
});

test('hooks in a folder of the user count', async () => {
  const { project, root, trace } = newScene();
  const config = join(root, 'config');
  write(join(root, 'hooks/post-checkout'), `#!/bin/sh\ntouch '${trace}'\n`);
  git(project, 'config', '--file', config, 'core.hooksPath', join(root, 'hooks'));
  const env = { ...process.env, GIT_CONFIG_GLOBAL: config };
  await makeWorktree({ path: join(root, 'w'), branch: 'raymond/r/w', cwd: project }, { env });
  expect(existsSync(trace)).toBe(true);
});

test('filters of the user count, those of the repository do not', async () => {
  const { project, root } = newScene();
  const config = join(root, 'config');
  git(project, 'config', '--file', config, 'filter.x.smudge', 'tr a b');
  git(project, 'config', 'filter.x.smudge', 'tr a c');
  const env = { ...process.env, GIT_CONFIG_GLOBAL: config };
  const wanted = { path: join(root, 'w'), branch: 'raymond/r/w', cwd: project };
  expect(await makeWorktree(wanted, { env })).toMatchObject({ cwd: join(root, 'w') });
  expect(readFileSync(join(root, 'w/a.txt'), 'utf8')).toBe('b\n');
});
