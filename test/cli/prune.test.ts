import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runWorkflow } from '../../src/app/start.ts';
import { signAsUser } from '../../src/app/trust/run-seal.ts';
import { eventually } from '../process/turns.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

const WAIT = 'i=0; while [ ! -e go ] && [ $i -lt 3000 ]; do sleep 0.01; i=$((i+1)); done';

/** A project with the completed runs r1 and r2 and the failed run f1. */
async function projectWithRuns(): Promise<CliProject> {
  const project = newCliProject();
  writeFileSync(join(project.cwd, 'DONE.sh'), 'echo "<result>r</result>"');
  writeFileSync(join(project.cwd, 'FAIL.sh'), 'exit 1');
  for (const [file, id] of [
    ['DONE.sh', 'r1'],
    ['DONE.sh', 'r2'],
    ['FAIL.sh', 'f1'],
  ] as const)
    await (await runWorkflow(file, { cwd: project.cwd, runId: id })).finished;
  return project;
}

const inRaymond = ({ cwd }: CliProject, ...names: readonly string[]): string => join(cwd, '.raymond', ...names);

/** Everything that is left of runs. */
const leftOf = (project: CliProject): readonly string[] =>
  ['state', 'runs', 'debug', 'tasks', 'worktrees'].flatMap((name) => {
    const folder = inRaymond(project, name);
    return existsSync(folder) ? readdirSync(folder).map((each) => `${name}/${each.replace(/_\d{8}_\d{6}$/, '')}`) : [];
  });

const setAge = (project: CliProject, id: string, days: number): void => {
  const then = Date.now() / 1000 - days * 86_400;
  for (const file of [inRaymond(project, 'state', `${id}.json`), inRaymond(project, 'runs', id, 'journal.jsonl')])
    utimesSync(file, then, then);
};

const prunedIds = async (project: CliProject, ...argv: readonly string[]): Promise<readonly string[]> => {
  const { out } = await project.raymond('prune', '--json', ...argv);
  return JSON.parse(out).runs.map(({ run_id: id }: { run_id: string }) => id);
};

describe('raymond prune', () => {
  test('only shows what would go, unless it is told to remove it', async () => {
    const project = await projectWithRuns();
    const before = leftOf(project);
    const { code, out, err } = await project.raymond('prune');
    expect(code).toBe(0);
    expect(out).toMatch(/^RUN +STATUS +LAST CHANGE +SIZE\nr2 +completed +\d+s ago +\d.* kB\nr1 .*\n$/);
    expect(err).toMatch(/^Nothing was removed yet\. With --yes, 2 runs and .* kB would go, for good\.\n$/);
    expect(leftOf(project)).toStrictEqual(before);
  });

  test.skipIf(process.platform !== 'linux')(
    'leaves a run whose turn is still running, but minds no run of another folder with the same id (on Linux)',
    async () => {
      const project = await projectWithRuns();
      const { mark } = JSON.parse(readFileSync(inRaymond(project, 'state', 'r1.json'), 'utf8'));
      const start = (marker: string) => {
        const child = spawn('sleep', ['60'], { env: { ...process.env, RAYMOND_TURN: marker }, stdio: 'ignore' });
        onTestFinished(() => void child.kill('SIGKILL'));
        return child;
      };
      const mine = start(`r1/${mark}/main/1`);
      start('r1/another/main/1');
      const refused = await project.raymond('prune', 'r1', '--yes');
      expect(refused.err).toContain(`A turn of run r1 is still running: process ${mine.pid}.`);
      mine.kill('SIGKILL');
      await new Promise((done) => mine.once('exit', done));
      expect(await project.raymond('prune', 'r1', '--yes')).toMatchObject({ code: 0 });
    },
  );

  test('removes all that a run has left, and nothing of the others', async () => {
    const project = await projectWithRuns();
    for (const name of ['tasks', 'worktrees'])
      for (const id of ['r1', 'f1']) mkdirSync(inRaymond(project, name, id, 'main'), { recursive: true });
    const { code, out } = await project.raymond('prune', '--yes');
    expect([code, out]).toStrictEqual([0, expect.stringMatching(/^Removed 2 runs: .* kB\.\n$/)]);
    expect(leftOf(project)).toStrictEqual(['state/f1.json', 'runs/f1', 'debug/f1', 'tasks/f1', 'worktrees/f1']);
    expect((await project.raymond('prune', '--yes')).out).toBe('Removed 0 runs: 0 B.\n');
  });

  test('chooses by age and status, and keeps the latest', async () => {
    const project = await projectWithRuns();
    setAge(project, 'r1', 31);
    setAge(project, 'f1', 40);
    expect(await prunedIds(project, '--older-than', '30d')).toStrictEqual(['r1']);
    expect(await prunedIds(project, '--older-than', '30d', '--status', 'any')).toStrictEqual(['r1', 'f1']);
    expect(await prunedIds(project, '--status', 'failed, paused')).toStrictEqual(['f1']);
    expect(await prunedIds(project, '--status', 'any', '--keep', '1')).toStrictEqual(['r1', 'f1']);
    expect(await prunedIds(project, 'f1')).toStrictEqual(['f1']);
  });

  test('removes a damaged run only by its name', async () => {
    const project = await projectWithRuns();
    truncateSync(inRaymond(project, 'state', 'r1.json'), 20);
    rmSync(inRaymond(project, 'state', 'r2.json'));
    expect(await prunedIds(project, '--status', 'any')).toStrictEqual(['f1']);
    expect((await project.raymond('prune', 'r1', 'r2', '--yes')).code).toBe(0);
    expect(leftOf(project)).toStrictEqual(['state/f1.json', 'runs/f1', 'debug/f1', 'tasks/f1']);
  });

  test('finishes a removal that was cut short', async () => {
    const project = await projectWithRuns();
    rmSync(inRaymond(project, 'state', 'r1.json'));
    const text = JSON.stringify(['removed run', realpathSync(inRaymond(project)), 'r1']);
    const signature = await signAsUser(text, { XDG_CONFIG_HOME: project.configHome });
    writeFileSync(inRaymond(project, 'state', 'r1.pruned'), `${signature}\n`);
    expect((await project.raymond('list')).out).not.toContain('r1');
    await project.raymond('prune', 'r2', '--yes');
    expect(existsSync(inRaymond(project, 'runs', 'r1'))).toBe(true);
    await project.raymond('prune', '--yes');
    expect(leftOf(project)).toStrictEqual(['state/f1.json', 'runs/f1', 'debug/f1', 'tasks/f1']);
  });

  test('never removes a run that is running', async () => {
    const project = newCliProject();
    writeFileSync(join(project.cwd, 'WAIT.sh'), `${WAIT}; echo "<result>r</result>"`);
    const { finished } = await runWorkflow('WAIT.sh', { cwd: project.cwd, runId: 'r1' });
    await eventually('a turn', () => existsSync(inRaymond(project, 'runs', 'r1', 'turns')));
    expect(await prunedIds(project, '--status', 'any')).toStrictEqual([]);
    const { code, err } = await project.raymond('prune', 'r1', '--force');
    expect([code, err]).toStrictEqual([
      64,
      'raymond: The run r1 is running: it is not removed.\nStop it first: `raymond stop r1`.\n',
    ]);
    // Even if its files are damaged.
    const state = inRaymond(project, 'state', 'r1.json');
    renameSync(state, `${state}.away`);
    expect((await project.raymond('prune', 'r1', '--yes')).code).toBe(64);
    renameSync(`${state}.away`, state);
    writeFileSync(join(project.cwd, 'go'), '');
    expect((await finished).status).toBe('completed');
  });

  test.each([
    [['--older-than', 'soon'], /--older-than must be an age such as 30d, 12h or 2w, not `soon`/],
    [['--status', 'running'], /--status must be any or some of completed.*, not `running`/],
    [['r1', '--keep', '1'], /--keep cannot be used with names of runs/],
    [['nope'], /no such run: nope/],
  ])('refuses %j', async (argv, message) => {
    const { code, err } = await newCliProject().raymond('prune', ...argv);
    expect(code).toBe(64);
    expect(err).toMatch(message);
  });
});
