import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { type CliProject, newCliProject } from './cli-project.ts';
import { appears, startOwner, waiting, writeWorkflow } from './owners.ts';

/** Runs that were left by their process, which was killed while their first turn waited for a file named `go`. */
async function leftBehind(runs: Readonly<Record<string, string>>): Promise<CliProject> {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'wf', {});
  for (const [id, tag] of Object.entries(runs)) {
    writeWorkflow(project.cwd, `wf-${id}`, { 'START.sh': waiting(tag, `here-${id}`), 'BAD.sh': 'exit 1' });
    const owner = startOwner(project.cwd, `wf-${id}`, '--run-id', id);
    await appears(project.cwd, `here-${id}`);
    owner.signal('SIGKILL');
    await owner.exited;
  }
  return project;
}

const go = ({ cwd }: CliProject): void => writeFileSync(join(cwd, 'go'), '');

test('says so if there is nothing to recover', async () => {
  const { cwd, raymond } = newCliProject();
  const nothing = { code: 0, out: '', err: 'Nothing to recover: no run has lost its process.\n' };
  expect(await raymond('recover')).toStrictEqual(nothing);
  expect(await raymond('recover', '--resume')).toStrictEqual(nothing);
  writeWorkflow(cwd, 'wf', { 'START.sh': 'exit 1' });
  await raymond('wf');
  expect(await raymond('recover')).toStrictEqual(nothing);
  expect(await raymond('recover', '--json')).toStrictEqual({ code: 0, out: '{"runs":[]}\n', err: '' });
});

test('shows the runs whose process is gone and no others', async () => {
  const project = await leftBehind({ r1: '<result>a</result>', r2: '<result>b</result>' });
  const live = startOwner(project.cwd, 'wf-r1', '--run-id', 'r3');
  await appears(project.cwd, '.raymond/runs/r3/turns');
  const { code, out, err } = await project.raymond('recover');
  expect(code).toBe(0);
  expect(out).toMatch(/^RUN .*\nr2 +wf-r2 +crashed +1 live +\$0\.00 +\d+s\nr1 +wf-r1 +crashed .*\n$/);
  expect(err).toBe('Their processes have died. To go on: raymond recover --resume\n');
  const { runs } = JSON.parse((await project.raymond('recover', '--json')).out) as { runs: { run_id: string }[] };
  expect(runs.map(({ run_id }) => run_id)).toStrictEqual(['r2', 'r1']);
  go(project);
  expect(await live.exited).toBe(0);
});

describe('with --resume', () => {
  test('resumes all of them, skips running ones, and exits with the most severe code', async () => {
    const project = await leftBehind({ r1: '<result>a</result>', r2: '<goto>BAD</goto>', r3: '<result>c</result>' });
    const live = startOwner(project.cwd, 'wf-r1', '--run-id', 'r4');
    await appears(project.cwd, '.raymond/runs/r4/turns');
    const said = project.raymond('recover', '--resume', '--json');
    go(project);
    const { code, out, err } = await said;
    expect(code).toBe(1);
    const documents = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { run_id: string; status: string });
    expect(documents.map(({ run_id, status }) => [run_id, status])).toStrictEqual([
      ['r3', 'completed'],
      ['r2', 'failed'],
      ['r1', 'completed'],
    ]);
    expect(err).toContain('Resuming r3 (1 of 3)\n');
    expect(err).not.toContain('r4');
    expect(await live.exited).toBe(0);
    expect((await project.raymond('recover')).err).toContain('Nothing to recover');
  });

  test('continues with the others if one cannot be resumed', async () => {
    const project = await leftBehind({ r1: '<result>a</result>', r2: '<result>b</result>' });
    rmSync(join(project.cwd, 'wf-r2'), { recursive: true });
    go(project);
    const { code, out, err } = await project.raymond('recover', '--resume');
    expect([code, out]).toStrictEqual([64, 'a\n']);
    expect(err).toContain('r2: The workflow of run r2 cannot be opened at ');
    writeWorkflow(project.cwd, 'wf-r2', { 'START.sh': 'exit 1' });
    expect(await project.raymond('recover', '--resume')).toMatchObject({ code: 0, out: 'b\n' });
  });

  test('starts no further run once it is interrupted', async () => {
    const project = await leftBehind({ r1: '<goto>BAD</goto>', r2: '<goto>BAD</goto>' });
    let interrupt = (): void => {};
    let err = '';
    const terminal = {
      ...project.terminal(),
      err: (text: string) => {
        err += text;
        if (!text.includes('the run goes on')) return;
        interrupt();
        go(project);
      },
      onInterrupt: (act: () => void) => {
        interrupt = act;
        return () => {};
      },
    };
    expect(await runCli(['recover', '--resume'], terminal)).toBe(130);
    expect(err).toContain('1 run not resumed. To go on: raymond recover --resume\n');
    expect((await project.raymond('list')).out).toMatch(/\nr2 .*interrupted .*\nr1 .*crashed /);
  });
});
