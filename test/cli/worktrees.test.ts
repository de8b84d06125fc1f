import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git } from '../git.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

/** What the worker of each name does in its worktree, the last as its transition. */
const WORKERS = {
  commits: 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one; echo "<result>c</result>"',
  changes: 'echo x > new.txt; echo "<result>d</result>"',
  idle: 'echo "<result>i</result>"',
  fails: 'echo x > new.txt; exit 1',
};

/** A repository in which a run `r1` has had these workers, each in a worktree, and has joined them. */
async function projectWithWorktrees(...names: readonly (keyof typeof WORKERS)[]) {
  const project = newCliProject();
  const file = (name: string, text: string) => writeFileSync(join(project.cwd, name), text);
  file('START.sh', `echo '${names.map((name) => `<fork worktree="auto">${name}</fork>`).join('')}<join>END</join>'`);
  for (const name of names) file(`${name}.sh`, WORKERS[name]);
  file('END.sh', 'cat "$RAYMOND_RESULTS_FILE" > results.json; echo "<result>done</result>"');
  git(project.cwd, 'init', '-q');
  git(project.cwd, 'commit', '-q', '--allow-empty', '-m', 'first');
  const run = await project.raymond('START.sh', '--run-id', 'r1');
  return { project, run };
}

const held = async (project: CliProject, ...argv: readonly string[]) =>
  JSON.parse((await project.raymond('worktrees', '--json', ...argv)).out).worktrees.map(
    ({ agent, holds, commits, dirty, removed }: Record<string, unknown>) => [agent, holds, commits, dirty, removed],
  );

describe('worktrees that workers have left', () => {
  test('are told of in the results, the summary, the status and the list, and only those with work are kept', async () => {
    const { project, run } = await projectWithWorktrees('commits', 'changes', 'idle', 'fails');
    const folder = join(project.cwd, '.raymond/worktrees/r1');
    expect(run.code).toBe(0);
    expect(JSON.parse(readFileSync(join(project.cwd, 'results.json'), 'utf8'))).toMatchObject([
      { status: 'ended', branch: 'raymond/r1/main_commit1', commits: 1, dirty: false },
      { status: 'ended', worktree: join(folder, 'main_change2'), commits: 0, dirty: true },
      { status: 'ended', branch: null, worktree: null, commits: 0, dirty: false },
      { status: 'failed', branch: 'raymond/r1/main_fails4', commits: 0, dirty: true },
    ]);
    const lines = [
      `main_change2 left uncommitted changes on the branch raymond/r1/main_change2 in ${join(folder, 'main_change2')}`,
      `main_commit1 left 1 commit on the branch raymond/r1/main_commit1 in ${join(folder, 'main_commit1')}`,
      'To list worktrees with work in them: raymond worktrees',
    ];
    const status = (await project.raymond('status', 'r1')).out;
    for (const line of lines)
      expect([run.err.includes(line), status.includes(line), line]).toStrictEqual([true, true, line]);
    expect(JSON.parse((await project.raymond('status', 'r1', '--json')).out).agents[1].worktree).toMatchObject({
      path: join(folder, 'main_commit1'),
      branch: 'raymond/r1/main_commit1',
      kept: true,
      commits: 1,
      dirty: false,
    });
    expect((await project.raymond('worktrees')).out).toMatch(
      /^RUN +AGENT +HOLDS\nr1 +main_change2 +uncommitted changes\n {2}.*main_change2\n {2}branch raymond\/r1\/main_change2\nr1 +main_commit1 +1 commit\n/,
    );
    expect(readdirSync(folder).sort()).toStrictEqual(['main_change2', 'main_commit1', 'main_fails4']);
  });

  test('hold nothing new once their branch is merged: --prune shows them, and removes them with --yes', async () => {
    const { project } = await projectWithWorktrees('commits', 'changes');
    git(project.cwd, 'merge', '-q', 'raymond/r1/main_commit1');
    const before = [
      ['main_change2', 'work', 0, true, false],
      ['main_commit1', 'nothing', 0, false, false],
    ];
    expect(await held(project)).toStrictEqual(before);
    const shown = await project.raymond('worktrees', '--prune');
    expect(shown.out).toContain('main_commit1');
    expect(shown.out).not.toContain('main_change2');
    expect(shown.err).toBe('Nothing was removed yet. With --yes, 1 worktree and their branches would go.\n');
    expect(await held(project)).toStrictEqual(before);
    expect(await held(project, '--prune', '--yes')).toStrictEqual([
      before[0],
      ['main_commit1', 'nothing', 0, false, true],
    ]);
    expect(git(project.cwd, 'branch', '--list', 'raymond/*')).toBe('+ raymond/r1/main_change2');
    expect((await project.raymond('worktrees', '--yes')).code).toBe(64);
  });

  test('of which two have the same commit are not both removed', async () => {
    const { project } = await projectWithWorktrees('commits', 'changes');
    const tree = join(project.cwd, '.raymond/worktrees/r1/main_change2');
    git(project.cwd, '-C', tree, 'clean', '-qf');
    git(project.cwd, '-C', tree, 'reset', '-q', '--hard', 'raymond/r1/main_commit1');
    expect((await held(project)).map(([, holds]: string[]) => holds)).toStrictEqual(['nothing', 'nothing']);
    const { code, out, err } = await project.raymond('worktrees', '--prune', '--yes');
    expect([code, out]).toStrictEqual([64, 'Removed 1 worktree.\n']);
    expect(err).toMatch(/^The worktree .*main_commit1 cannot be removed: it holds work now\n$/);
  });

  test('stay when their run is removed if they hold work', async () => {
    const { project } = await projectWithWorktrees('commits', 'changes');
    git(project.cwd, 'merge', '-q', 'raymond/r1/main_commit1');
    const line = '1 worktree holds work and stays: raymond worktrees lists it.\n';
    expect((await project.raymond('prune')).err).toContain(line);
    expect((await project.raymond('prune', '--yes')).err).toBe(line);
    expect(await held(project)).toStrictEqual([['main_change2', 'work', 0, true, false]]);
    expect(git(project.cwd, 'worktree', 'list').split('\n')).toHaveLength(2);
  });

  test('that are none any more are told of and never removed, unless they are empty', async () => {
    const project = newCliProject();
    for (const name of ['main_a1/file', 'main_b1'])
      mkdirSync(join(project.cwd, '.raymond/worktrees/r0', name), { recursive: true });
    expect(await held(project, '--prune', '--yes')).toStrictEqual([
      ['main_a1', null, 0, false, false],
      ['main_b1', 'nothing', 0, false, true],
    ]);
    expect(existsSync(join(project.cwd, '.raymond/worktrees/r0/main_a1/file'))).toBe(true);
    expect((await project.raymond('worktrees')).out).toContain('not known: it is no worktree of a git repository');
  });
});
