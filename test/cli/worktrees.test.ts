import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { git } from '../git.ts';
import { worktreesFolder } from '../worktrees-folder.ts';
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
    const folder = worktreesFolder(project.cwd, 'r1');
    expect(run.code).toBe(0);
    expect(JSON.parse(readFileSync(join(project.cwd, 'results.json'), 'utf8'))).toMatchObject([
      { status: 'ended', branch: 'raymond/r1/main_commit1', commits: 1, dirty: false },
      { status: 'ended', worktree: join(folder, 'main_change2'), commits: 0, dirty: true },
      { status: 'ended', branch: null, worktree: null, commits: 0, dirty: false },
      { status: 'failed', branch: 'raymond/r1/main_fails4', commits: 0, dirty: true },
    ]);
    const lines = [
      'main_change2 left uncommitted changes on raymond/r1/main_change2\n',
      'main_commit1 left 1 commit on raymond/r1/main_commit1\n',
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
    expect(shown.err).toBe('Nothing was removed yet. With --yes, 1 worktree and its branch would go.\n');
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
    const tree = join(worktreesFolder(project.cwd, 'r1'), 'main_change2');
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

  test('are discarded with their work and branch, after a look at what would be lost, and the run says so', async () => {
    const { project } = await projectWithWorktrees('commits', 'changes', 'fails');
    const shown = await project.raymond('worktrees', '--discard', 'r1');
    expect([shown.code, shown.err]).toStrictEqual([
      0,
      'Nothing was removed yet. With --yes, 3 worktrees and their branches would go, with all the work in them.\n',
    ]);
    expect(shown.out).toMatch(/not committed: new\.txt\n.*commit [0-9a-f]{7} one\n/s);
    expect((await project.raymond('worktrees', '--discard', 'r1', 'main_other9')).err).toContain(
      'the run r1 has no worktree of main_other9',
    );
    const asked: string[] = [];
    const terminal = (answer: boolean) => ({
      ...project.terminal(),
      ask: async (question: string) => {
        asked.push(question);
        return answer;
      },
    });
    expect(await runCli(['worktrees', '--discard', 'last', 'main_commit1'], terminal(false))).toBe(64);
    expect(await held(project)).toHaveLength(3);
    expect(await runCli(['worktrees', '--discard', 'last', 'main_commit1'], terminal(true))).toBe(0);
    expect(asked).toStrictEqual(
      Array(2).fill('Remove 1 worktree and its branch, with all the work in them, for good?'),
    );
    expect(await held(project, '--discard', 'r1', '--yes')).toStrictEqual([
      ['main_change2', 'work', 0, true, true],
      ['main_fails3', 'work', 0, true, true],
    ]);
    expect([git(project.cwd, 'branch', '--list', 'raymond/*'), await held(project)]).toStrictEqual(['', []]);
    const status = JSON.parse((await project.raymond('status', 'r1', '--json')).out);
    expect(status.agents.slice(1).map(({ worktree }: { worktree: object }) => worktree)).toMatchObject(
      Array(3).fill({ kept: false, discarded: true }),
    );
    const logs = (await project.raymond('logs', 'r1')).out;
    expect(logs.match(/was discarded, with the branch raymond\/r1\//g)).toHaveLength(3);
    expect((await project.raymond('worktrees', '--discard', 'r1')).err).toContain('the run r1 has no worktree');
    expect((await project.raymond('resume', 'r1')).code).toBe(0);
  });

  test('discard the clone of a run that cannot be pushed, and the run is completed', async () => {
    const project = newCliProject();
    const remote = join(project.cwd, 'remote.git');
    git(project.cwd, 'init', '-q', '--bare', remote);
    const source = join(project.cwd, 'source');
    git(project.cwd, 'clone', '-q', remote, source);
    git(source, 'commit', '-q', '--allow-empty', '-m', 'first');
    git(source, 'push', '-q', 'origin', 'HEAD');
    writeFileSync(join(remote, 'hooks/pre-receive'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    writeFileSync(join(project.cwd, 'START.sh'), WORKERS.commits);
    const started = await project.raymond('START.sh', '--run-id', 'r1', '--workspace', remote);
    expect(started.code, started.err).toBe(3);
    expect(await held(project, '--discard', 'r1', '--yes')).toStrictEqual([['main', 'work', 1, false, true]]);
    const status = JSON.parse((await project.raymond('status', 'r1', '--json')).out);
    expect([status.status, status.workspace.discarded]).toStrictEqual(['completed', true]);
    expect((await project.raymond('resume', 'r1')).code).toBe(0);
    expect(existsSync(worktreesFolder(project.cwd, 'r1'))).toBe(false);
  });

  test('in which an agent may continue are not discarded', async () => {
    const project = newCliProject();
    const file = (name: string, text: string) => writeFileSync(join(project.cwd, name), text);
    file('START.sh', `echo '<fork next="END" worktree="auto">W</fork>'`);
    file('W.sh', `echo '<ask next="END">Which one?</ask>'`);
    file('END.sh', 'echo "<result>done</result>"');
    git(project.cwd, 'init', '-q');
    git(project.cwd, 'commit', '-q', '--allow-empty', '-m', 'first');
    expect((await project.raymond('START.sh', '--run-id', 'r1', '--on-ask', 'exit')).code).not.toBe(0);
    const refused = await project.raymond('worktrees', '--discard', 'r1', '--yes');
    expect([refused.code, refused.err]).toStrictEqual([
      64,
      expect.stringContaining('a worktree of r1 is in use: that of main_w1'),
    ]);
    expect(await held(project)).toStrictEqual([['main_w1', 'in_use', 0, false, false]]);
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
