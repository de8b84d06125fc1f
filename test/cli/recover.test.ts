import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { type CliProject, newCliProject } from './cli-project.ts';
import { appears, startOwnerIn, waiting, writeWorkflow } from './owners.ts';

/** Runs that were left by their process, which was killed while their first turn waited for a file named `go`. */
async function leftBehind(
  runs: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Promise<CliProject> {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'wf', {});
  for (const [id, tag] of Object.entries(runs)) {
    writeWorkflow(project.cwd, `wf-${id}`, { 'START.sh': waiting(tag, `here-${id}`), 'BAD.sh': 'exit 1', ...more });
    const owner = startOwnerIn(project, `wf-${id}`, '--run-id', id);
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
  const live = startOwnerIn(project, 'wf-r1', '--run-id', 'r3');
  await appears(project.cwd, '.raymond/runs/r3/turns');
  const { code, out, err } = await project.raymond('recover');
  expect(code).toBe(0);
  expect(out).toMatch(/^RUN .*\nr2 +wf-r2 +crashed +1 live +\$0\.00 +\d+s\nr1 +wf-r1 +crashed .*\n$/);
  expect(err).toBe('Their processes have died. To continue: raymond recover --resume\n');
  const { runs } = JSON.parse((await project.raymond('recover', '--json')).out) as { runs: { run_id: string }[] };
  expect(runs.map(({ run_id }) => run_id)).toStrictEqual(['r2', 'r1']);
  go(project);
  expect(await live.exited).toBe(0);
});

test('starting another run says first, in one line, that there are such runs, also if it is to be quiet', async () => {
  const project = await leftBehind({ r1: '<result>a</result>', r2: '<result>b</result>' });
  writeWorkflow(project.cwd, 'wf', { 'START.sh': "echo '<result>x</result>'" });
  const { err } = await project.raymond('wf');
  const line = 'The processes of 2 runs have died. To continue with all of them: raymond recover --resume\n';
  expect([err.startsWith(line), err.split(line).length]).toStrictEqual([true, 2]);
  expect((await project.raymond('wf', '--quiet')).err).toBe(line);
  go(project);
  await project.raymond('recover', '--resume');
  expect((await project.raymond('wf')).err).not.toContain('have died');
});

function isThere(group: number): boolean {
  try {
    return process.kill(group, 0);
  } catch {
    return false;
  }
}

describe('with --resume', () => {
  test('resumes all of them, skips running ones, and exits with the most severe code', async () => {
    const project = await leftBehind({ r1: '<result>a</result>', r2: '<goto>BAD</goto>', r3: '<result>c</result>' });
    const live = startOwnerIn(project, 'wf-r1', '--run-id', 'r4');
    await appears(project.cwd, '.raymond/runs/r4/turns');
    const terminal = project.terminal();
    const recovered = runCli(['recover', '--resume', '--json'], terminal);
    // By then it has looked at all runs, and r4 still has its process.
    await vi.waitUntil(() => terminal.output().err.includes('Resuming'), { timeout: 20_000, interval: 10 });
    go(project);
    expect(await recovered).toBe(1);
    const { out, err } = terminal.output();
    const documents = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { run_id: string; status: string });
    expect(documents.map(({ run_id, status }) => [run_id, status]).sort()).toStrictEqual([
      ['r1', 'completed'],
      ['r2', 'failed'],
      ['r3', 'completed'],
    ]);
    expect(err).toContain('Resuming r3 (1 of 3)\n');
    expect(err).toContain('r2 | [main] BAD.sh\n');
    expect(err).toContain(`Left alone: r4 (${live.pid}): a process drives it.\n`);
    expect(await live.exited).toBe(0);
    expect((await project.raymond('recover')).err).toContain('Nothing to recover');
  });

  test('continues with the others if one cannot be resumed', async () => {
    const project = await leftBehind({ r1: '<result>a</result>', r2: '<result>b</result>' });
    rmSync(join(project.cwd, 'wf-r2'), { recursive: true });
    go(project);
    const { code, out, err } = await project.raymond('recover', '--resume');
    expect([code, out]).toStrictEqual([64, '[r1]\na\n']);
    expect(err).toContain('r2: The workflow of run r2 cannot be opened at ');
    writeWorkflow(project.cwd, 'wf-r2', { 'START.sh': 'exit 1' });
    expect(await project.raymond('recover', '--resume')).toMatchObject({ code: 0, out: 'b\n' });
  });

  test('resumes several at the same time: one that waits for another is not in its way', async () => {
    // The latest is resumed first.
    const project = await leftBehind(
      { r1: '<goto>FIRST</goto>', r2: '<goto>SECOND</goto>' },
      {
        'FIRST.sh': "touch first; echo '<result>a</result>'",
        'SECOND.sh': "until [ -e first ] || [ ! -e wf ]; do sleep 0.02; done; echo '<result>b</result>'",
      },
    );
    go(project);
    const { code, out } = await project.raymond('recover', '--resume');
    // Both end at nearly the same time.
    expect([code, out.split(/^(?=\[)/m).sort()]).toStrictEqual([0, ['[r1]\na\n', '[r2]\nb\n']]);
  });

  test('runs interrupted scripts again only with --retry, and says so', async () => {
    const project = await leftBehind({ r1: '<result>a</result>' });
    const started = join(project.cwd, '.raymond/runs/r1/turns/0001-main-START/started');
    process.kill(-Number(readFileSync(started, 'utf8').split(' ')[0]), 'SIGKILL');
    const asked = await project.raymond('recover', '--resume');
    expect(asked).toMatchObject({ code: 3, err: expect.stringContaining('To continue: raymond resume r1 --retry\n') });
    expect((await project.raymond('recover', '--resume')).err).toBe(
      `Nothing to recover: no run has lost its process.
Left alone: r1 (paused): a turn of it was cut short, and may have done half its work; \`raymond recover --resume --retry\` takes it again.
`,
    );
    expect((await project.raymond('resume', 'r1')).err).toContain(
      'This run continues only with --retry; nothing was started.',
    );
  });

  test('retries what a crash has cut short with --retry', async () => {
    const project = await leftBehind({ r1: '<result>a</result>', r2: '<result>b</result>' });
    for (const id of ['r1', 'r2']) {
      const started = join(project.cwd, '.raymond/runs', id, 'turns/0001-main-START/started');
      const group = -Number(readFileSync(started, 'utf8').split(' ')[0]);
      process.kill(group, 'SIGKILL');
      // A turn that is still dying would be followed, and then found dead.
      await vi.waitUntil(() => !isThere(group), { timeout: 20_000 });
    }
    go(project);
    expect(await project.raymond('recover', '--resume', '--retry')).toMatchObject({ code: 0 });
    expect(await project.raymond('recover', '--retry')).toMatchObject({ code: 64 });
  });

  test('takes with --retry what an earlier recover left paused, but no run that is paused for another reason', async () => {
    const project = await leftBehind({ r1: '<result>a</result>' });
    const started = join(project.cwd, '.raymond/runs/r1/turns/0001-main-START/started');
    process.kill(-Number(readFileSync(started, 'utf8').split(' ')[0]), 'SIGKILL');
    writeWorkflow(project.cwd, 'unreadable', { 'START.sh': 'echo "<goto>NEXT</goto>"', 'NEXT.md': '---\n[\n---\n' });
    expect((await project.raymond('recover', '--resume')).code).toBe(3);
    writeWorkflow(project.cwd, 'mendable', {
      'START.sh': 'echo "<goto>NEXT</goto>"; rm $RAYMOND_WORKFLOW_DIR/NEXT.sh',
    });
    writeWorkflow(project.cwd, 'mendable', { 'NEXT.sh': 'true' });
    expect((await project.raymond('mendable', '--run-id', 'r2')).code).toBe(3);
    go(project);
    const { code, out, err } = await project.raymond('recover', '--resume', '--retry');
    expect([code, out]).toStrictEqual([0, 'a\n']);
    expect(err).toContain(
      'Left alone: r2 (paused): its process did not die; `raymond status RUN` says what it waits for and how to continue.\n',
    );
  });

  test('an interrupt stops all of them', async () => {
    const project = await leftBehind({ r1: '<goto>BAD</goto>', r2: '<goto>BAD</goto>' });
    const interrupts = new Set<() => void>();
    let resumed = 0;
    const terminal = {
      ...project.terminal(),
      err: (text: string) => {
        if (!text.includes('the run is resumed') || ++resumed < 2) return;
        for (const interrupt of interrupts) interrupt();
        go(project);
      },
      onInterrupt: (act: () => void) => {
        interrupts.add(act);
        return () => interrupts.delete(act);
      },
    };
    expect(await runCli(['recover', '--resume'], terminal)).toBe(130);
    expect((await project.raymond('list')).out).toMatch(/\nr2 .*interrupted .*\nr1 .*interrupted /);
  });
});
