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
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { findRaymondFolder } from '../../src/disk/layout.ts';
import { addStateChecksum } from '../../src/storage/run-file.ts';
import { git } from '../git.ts';
import { worktreesFolder } from '../worktrees-folder.ts';
import { type CliProject, type CommandResult, newCliProject } from './cli-project.ts';

/** A repository with a workflow outside of it, whose worker changes a file in a worktree, and then fails once if it is to. */
function setUp() {
  const project = newCliProject();
  const [home = '', workflow = ''] = ['home', 'workflow'].map((name) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), `raymond-trees-${name}-`)));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  });
  const file = (name: string, text: string) => writeFileSync(join(workflow, name), text);
  file('START.sh', `echo '<fork next="END" worktree="auto">W</fork>'`);
  file('W.sh', 'pwd > where.txt; if [ -e "$FAILS" ]; then exit 1; fi; echo "<result>w</result>"');
  file('END.sh', 'echo "<result>done</result>"');
  git(project.cwd, 'init', '-q');
  git(project.cwd, 'commit', '-q', '--allow-empty', '-m', 'first');
  const fails = join(home, 'fails');
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: undefined, XDG_STATE_HOME: undefined, FAILS: fails };
  const raymond = async (argv: readonly string[], changes: NodeJS.ProcessEnv = {}): Promise<CommandResult> => {
    const terminal = project.terminal({ ...env, ...changes });
    return { code: await runCli(argv, terminal), ...terminal.output() };
  };
  const listed = async (changes: NodeJS.ProcessEnv = {}): Promise<readonly string[]> =>
    JSON.parse((await raymond(['worktrees', '--json'], changes)).out).worktrees.map(
      ({ path }: { path: string }) => path,
    );
  const run = (id: string, changes: NodeJS.ProcessEnv = {}) =>
    raymond(['run', join(workflow, 'START.sh'), '--run-id', id], changes);
  return { project, home, env, fails, raymond, listed, run };
}

/** Writes the project's config file, and trusts it. */
function configure({ cwd }: CliProject, text: string): void {
  mkdirSync(join(cwd, '.raymond'), { recursive: true });
  writeFileSync(join(cwd, '.raymond/config.toml'), `[raymond]\n${text}\n`);
}

describe('the worktrees of a run', () => {
  test("are in the user's state folder, which only the user can read, below a name of the project", async () => {
    const { project, home, env, listed, run } = setUp();
    expect((await run('r1')).code).toBe(0);
    const folder = worktreesFolder(project.cwd, 'r1', env);
    const path = join(folder, 'main_w1');
    expect(dirname(dirname(folder))).toBe(join(home, '.local/state/raymond/worktrees'));
    expect(basename(dirname(folder))).toMatch(new RegExp(`^${basename(project.cwd)}-[0-9a-f]{8}$`));
    expect([await listed(), readFileSync(join(path, 'where.txt'), 'utf8')]).toStrictEqual([[path], `${path}\n`]);
    expect([
      git(project.cwd, 'status', '--porcelain', '--ignored'),
      existsSync(join(project.cwd, '.raymond/worktrees')),
    ]).toStrictEqual(['!! .raymond/', false]);
    if (process.platform !== 'win32')
      for (const each of [join(home, '.local/state'), dirname(dirname(folder)), dirname(folder), folder])
        expect(statSync(each).mode & 0o777).toBe(0o700);
  });

  test('lead commands that are run in them to the runs of their project', async () => {
    const { project, env, run } = setUp();
    await run('r1');
    const path = join(worktreesFolder(project.cwd, 'r1', env), 'main_w1');
    mkdirSync(join(path, '.raymond'));
    mkdirSync(join(path, 'sub'));
    const terminal = { ...project.terminal(env), cwd: join(path, 'sub') };
    expect([await runCli(['status', 'r1'], terminal), terminal.output().err]).toStrictEqual([0, '']);
    // A file that leads elsewhere is not believed.
    const { project: other } = setUp();
    writeFileSync(join(path, '.git'), `gitdir: ${other.cwd}/.git/worktrees/main_w1\n`);
    expect(findRaymondFolder(path)).toBe(join(path, '.raymond'));
  });

  test('are in XDG_STATE_HOME if that is set, and in .raymond if there is no home at all', async () => {
    const { project, home, listed, run } = setUp();
    const state = { XDG_STATE_HOME: join(home, 'state') };
    await run('r1', state);
    expect(await listed(state)).toStrictEqual([
      expect.stringMatching(new RegExp(`^${home}/state/raymond/worktrees/.*/r1/main_w1$`)),
    ]);
    const homeless = { HOME: undefined, USERPROFILE: undefined };
    await run('r2', homeless);
    expect(await listed(homeless)).toContain(join(project.cwd, '.raymond/worktrees/r2/main_w1'));
  });

  test('are where worktree_dir says; in the config file of a project it needs trust', async () => {
    const { project, home, raymond, listed, run } = setUp();
    const trees = `${project.cwd}-trees`;
    configure(project, `worktree_dir = "../${basename(trees)}"`);
    onTestFinished(() => rmSync(trees, { recursive: true, force: true }));
    const refused = await run('r0');
    expect([refused.code, refused.err]).toStrictEqual([64, expect.stringContaining('worktree_dir')]);
    expect((await raymond(['trust', '--yes'])).code).toBe(0);
    await run('r1');
    expect(await listed()).toStrictEqual([expect.stringMatching(/-trees\/.*-[0-9a-f]{8}\/r1\/main_w1$/)]);
    // The run remembers its place.
    rmSync(join(project.cwd, '.raymond/config.toml'));
    expect(await listed()).toHaveLength(1);
    expect(existsSync(join(home, '.local'))).toBe(false);
    for (const path of await listed()) rmSync(join(path, 'where.txt'));
    expect((await raymond(['prune', '--yes'])).code).toBe(0);
    expect(readdirSync(trees)).toStrictEqual([]);
  });

  test('of a run that remembers no place, as those of older versions, are found, opened again and removed in .raymond', async () => {
    const { project, fails, raymond, listed, run } = setUp();
    writeFileSync(fails, '');
    expect((await run('r1', { HOME: undefined, USERPROFILE: undefined })).code).toBe(1);
    expect(JSON.parse(readFileSync(join(project.cwd, '.raymond/state/r1.json'), 'utf8')).workFolders).toStrictEqual({
      run: expect.any(String),
      task: expect.any(String),
    });
    const old = join(project.cwd, '.raymond/worktrees/r1');
    expect(await listed()).toStrictEqual([join(old, 'main_w1')]);
    rmSync(fails);
    const resumed = await raymond(['resume', 'r1', '--retry']);
    expect([resumed.code, await listed()], resumed.err).toStrictEqual([0, [join(old, 'main_w1')]]);
    rmSync(join(old, 'main_w1/where.txt'));
    expect((await raymond(['prune', '--yes'])).code).toBe(0);
    expect([existsSync(old), git(project.cwd, 'branch', '--list', 'raymond/*')]).toStrictEqual([false, '']);
  });

  test('of a run that names another place are not looked for there', async () => {
    const { project, home, raymond, listed, run } = setUp();
    await run('r1');
    const precious = join(home, 'precious');
    execFileSync('git', ['clone', '-q', project.cwd, join(precious, 'main_a')], { stdio: 'ignore' });
    mkdirSync(join(project.cwd, '.raymond/worktrees'));
    symlinkSync(precious, join(project.cwd, '.raymond/worktrees/r2'));
    const file = join(project.cwd, '.raymond/state/r1.json');
    const planted = readFileSync(file, 'utf8').replace(
      /"worktrees":\s*"[^"]*"/,
      `"worktrees":${JSON.stringify(precious)}`,
    );
    writeFileSync(file, addStateChecksum(planted.replace(/,?\s*"checksum":.*?(?=\s*\}\s*$)/, '')));
    expect((await raymond(['status', 'r1'])).code).toBe(0);
    expect((await listed()).filter((path) => path.includes('precious'))).toStrictEqual([]);
    await raymond(['worktrees', '--prune', '--yes']);
    await raymond(['prune', '--yes']);
    expect(readdirSync(precious)).toStrictEqual(['main_a']);
  });

  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'are refused with a remedy where nothing can be written (not as root)',
    async () => {
      const { home, run } = setUp();
      chmodSync(home, 0o500);
      const { err } = await run('r1');
      chmodSync(home, 0o700);
      expect(err).toContain('set `worktree_dir` to a folder that you can write to');
    },
  );

  test('are refused with a remedy where there can be no folder', async () => {
    const { home, run } = setUp();
    writeFileSync(join(home, '.local'), 'no folder');
    expect((await run('r1')).err).toContain('set `worktree_dir` to a folder that you can write to');
  });

  test('that were half removed or half made are removed with --prune, and with their run', async () => {
    const { project, env, raymond, run } = setUp();
    await run('r1');
    const folder = worktreesFolder(project.cwd, 'r1', env);
    for (const name of ['main.removed', 'main_w2.removed', 'main_w3.partial'])
      mkdirSync(join(folder, name, 'sub'), { recursive: true });
    await raymond(['worktrees', '--prune', '--yes']);
    expect(readdirSync(folder)).toStrictEqual(['main_w1']);
    mkdirSync(join(folder, 'main_w2.removed'));
    rmSync(join(folder, 'main_w1/where.txt'));
    await raymond(['prune', '--yes']);
    expect(existsSync(dirname(folder))).toBe(false);
  });
});
