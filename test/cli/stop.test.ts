import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { resumeRun } from '../../src/app/resume.ts';
import { runWorkflow } from '../../src/app/start.ts';
import { requestStop, type StopProgress, stopRun } from '../../src/app/stop.ts';
import { runCli } from '../../src/cli/program.ts';
import type { Event } from '../../src/core/run/event.ts';
import { layoutOf } from '../../src/disk/layout.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { createFileInbox } from '../../src/storage/files/inbox.ts';
import { ownerOf } from '../../src/storage/files/owner.ts';
import { type CliProject, newCliProject } from './cli-project.ts';
import { appears, type OwnerProcess, startOwner, waiting, writeWorkflow } from './owners.ts';

/** A room in which a process drives a run whose first turn waits for a file named `go`. */
async function driven(id = 'r1'): Promise<CliProject & { readonly owner: OwnerProcess }> {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'wf', {
    'START.sh': waiting('<goto>NEXT</goto>'),
    'NEXT.sh': 'echo "<result>n</result>"',
  });
  const owner = startOwner(project.cwd, 'wf', '--run-id', id);
  await appears(project.cwd, 'here');
  return { ...project, owner };
}

const go = ({ cwd }: CliProject): void => writeFileSync(join(cwd, 'go'), '');

/** Stops r1 and calls back once it starts nothing new. */
function stopping(project: CliProject, then: () => void, now = false): ReturnType<typeof stopRun> {
  return stopRun('r1', { cwd: project.cwd, now, observe: then });
}

describe('a run in another process', () => {
  test('is stopped when its turn has ended; its process exits with 3, and a resume continues it', async () => {
    const project = await driven();
    const outcome = await stopping(project, () => go(project));
    expect([outcome.kind, outcome.observed.observedStatus]).toStrictEqual(['stopped', 'paused']);
    expect(await project.owner.exited).toBe(3);
    expect(project.owner.err()).toContain('[main] START.sh → NEXT.sh (goto)');
    expect(project.owner.err()).toContain('nothing new is started: the run was told to stop');
    expect(readdirSync(join(project.cwd, '.raymond', 'runs', 'r1')).sort()).toStrictEqual([
      'history.json',
      'inbox',
      'journal.jsonl',
      'seals',
      'turns',
    ]);
    expect(await project.raymond('resume', 'r1', '--quiet')).toMatchObject({ code: 0, out: 'n\n' });
  });

  test('is stopped together with its turns by --now, and no process remains', async () => {
    const id = randomUUID();
    const { owner, raymond } = await driven(id);
    expect(await raymond('stop', id, '--now')).toStrictEqual({
      code: 0,
      out: `${id} has stopped: paused.\nTo continue: raymond resume ${id} --retry\n`,
      err: `${id} (process ${owner.pid}) is stopping: running turns are ended.\n`,
    });
    expect(await owner.exited).toBe(3);
    expect(await findMarkedProcesses(`${id}/`)).toStrictEqual([]);
  });

  test('is stopped together with its turns by a second request', async () => {
    const project = await driven();
    const modes: string[] = [];
    const note = ({ mode }: StopProgress): void => void modes.push(mode);
    const first = stopRun('r1', { cwd: project.cwd, observe: note });
    await vi.waitUntil(() => modes.length === 1);
    const second = stopRun('r1', { cwd: project.cwd, observe: note });
    for (const { kind, observed } of await Promise.all([first, second])) {
      expect([kind, observed.observedStatus]).toStrictEqual(['stopped', 'paused']);
    }
    expect(modes).toStrictEqual(['soon', 'now']);
    expect(await project.owner.exited).toBe(3);
  });

  test('continues to stop if the user leaves the stop command with Ctrl-C', async () => {
    const project = await driven();
    let interrupt = (): void => {};
    const terminal = {
      ...project.terminal(),
      err: (text: string) => {
        if (text.includes('is stopping')) interrupt();
      },
      onInterrupt: (act: () => void) => {
        interrupt = act;
        return () => {};
      },
    };
    expect(await runCli(['stop', 'r1'], terminal)).toBe(130);
    expect(terminal.output().out).toBe('r1 will stop by itself.\nTo end it now: raymond stop r1 --now\n');
    await vi.waitUntil(async () => (await project.raymond('list')).out.includes('stopping'), { timeout: 20_000 });
    expect((await project.raymond('status')).out).toContain(
      'It is stopping: 1 turn (main in START.sh) is finishing.\nTo end it now: raymond stop r1 --now\n',
    );
    go(project);
    expect(await project.owner.exited).toBe(3);
  });

  test('does not respond while it is suspended, and the user gets a message', async () => {
    const { cwd, owner } = await driven();
    owner.signal('SIGSTOP');
    const told: string[] = [];
    const outcome = await stopRun('r1', {
      cwd,
      now: true,
      observe({ kind }) {
        told.push(kind);
        if (kind === 'not_responding') owner.signal('SIGCONT');
      },
    });
    expect(told).toStrictEqual(['stopping', 'not_responding']);
    expect(outcome.observed.observedStatus).toBe('paused');
  });
});

test('a run that sleeps until a usage limit ends is stopped immediately', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', {
    'START.md': 'x',
    'answers.yaml':
      'answers:\n  START.md:\n    - { turns: [{ fail: usage_limit, resets_in: 7200 }, <result>r</result>] }\n',
  });
  const owner = startOwner(cwd, 'wf', '--run-id', 'r1', '--agent', 'replay:wf/answers.yaml');
  await vi.waitUntil(() => owner.err().includes('waiting until'), { timeout: 20_000 });
  expect((await raymond('status')).out).toMatch(
    /\nmain {3}START\.md {2}sleeps until [-\d: ]+\n[\s\S]*\nClaude waits until /,
  );
  expect(await raymond('stop')).toMatchObject({
    code: 0,
    out: 'r1 has stopped: paused.\nTo continue: raymond resume r1\n',
  });
  expect(await owner.exited).toBe(3);
  expect(await raymond('resume', 'r1', '--quiet')).toMatchObject({ code: 0, out: 'r\n' });
});

test('a run that a program started through the library is stopped, too', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', { 'START.sh': waiting('<goto>NEXT</goto>'), 'NEXT.sh': 'echo "<result>n</result>"' });
  const events: Event['kind'][] = [];
  const running = await runWorkflow('wf', { cwd, runId: 'r1', observe: ({ kind }) => events.push(kind) });
  await appears(cwd, 'here');
  const said = raymond('stop', 'r1');
  await vi.waitUntil(() => events.includes('run_stopping'), { timeout: 20_000 });
  writeFileSync(join(cwd, 'go'), '');
  expect((await running.finished).status).toBe('paused');
  expect((await said).out).toMatch(/^r1 has stopped: paused\./);
  const again = await resumeRun('r1', { cwd });
  expect((await again.finished).status).toBe('completed');
});

test('a stop request to a process that was killed does not stop a later one', async () => {
  const project = await driven();
  project.owner.signal('SIGSTOP');
  const folder = join(project.cwd, '.raymond', 'runs', 'r1');
  const { leaseId: life } = (await ownerOf(folder)) ?? {};
  const inbox = createFileInbox(layoutOf(join(project.cwd, '.raymond')));
  expect(await requestStop(inbox, 'r1', { lease: life ?? '', now: true, by: 'b', at: 1 })).toBe('now');
  project.owner.signal('SIGKILL');
  await project.owner.exited;
  go(project);
  expect(await project.raymond('resume', 'r1', '--quiet')).toMatchObject({ code: 0, out: 'n\n' });
  expect(await inbox.find('r1', `stop-now-${life}`)).toMatchObject({
    outcome: { kind: 'refused', reason: 'the run was resumed since' },
  });
});

describe('a run whose process is gone', () => {
  async function left(id?: string): Promise<CliProject & { readonly owner: OwnerProcess }> {
    const project = await driven(id);
    project.owner.signal('SIGKILL');
    await project.owner.exited;
    return project;
  }

  test('is resumed, and stopped when its surviving turns have ended', async () => {
    const project = await left();
    const terminal = project.terminal();
    const err = (text: string): void => {
      if (text.includes('resumed only')) go(project);
    };
    expect(await runCli(['stop', 'r1'], { ...terminal, err })).toBe(0);
    expect(terminal.output().out).toBe('r1 has stopped: paused.\nTo continue: raymond resume r1\n');
    expect((await project.raymond('status')).out).toMatch(/\nmain {3}NEXT\.sh {2}to continue here/);
  });

  test('is resumed, and its turns are ended by --now', async () => {
    const id = randomUUID();
    const { owner, raymond } = await left(id);
    expect(await findMarkedProcesses(`${id}/`)).not.toStrictEqual([]);
    expect(await raymond('stop', id, '--now')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${id} has stopped: paused.`),
      err: `The process ${owner.pid} of ${id} has died; the run is resumed only to be stopped: running turns are ended.\n`,
    });
    expect(await findMarkedProcesses(`${id}/`)).toStrictEqual([]);
  });
});

describe('nothing is stopped', () => {
  test('if no run is running', async () => {
    const { cwd, raymond } = newCliProject();
    expect(await raymond('stop')).toStrictEqual({ code: 0, out: 'No run is running here.\n', err: '' });
    expect((await raymond('stop', 'r1')).code).toBe(64);
    writeWorkflow(cwd, 'wf', { 'START.sh': 'exit 1' });
    await raymond('wf', '--run-id', 'r1');
    expect(await raymond('stop', 'last')).toStrictEqual({
      code: 0,
      out: 'r1 is not running: failed.\nTo continue: raymond resume r1 --retry\n',
      err: '',
    });
  });

  test('if the run is on another machine', async () => {
    const { cwd, owner, raymond } = await driven();
    owner.signal('SIGKILL');
    await owner.exited;
    const file = join(cwd, '.raymond', 'runs', 'r1', 'owner.1');
    const facts = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...facts, bootId: 'x', host: 'far' }));
    const { code, err } = await raymond('stop', 'r1');
    expect([code, err]).toStrictEqual([
      64,
      `raymond: The run r1 is driven by process ${owner.pid} on far, which cannot be checked from here.\n` +
        'Stop it there: `raymond stop r1`. If that process is gone: `raymond resume r1 --take-over`.\n',
    ]);
    writeFileSync(file, '{');
    expect((await raymond('stop', 'r1')).err).toContain('It is unknown which process drives the run r1');
    expect(existsSync(join(cwd, 'go'))).toBe(false);
    rmSync(file);
    expect((await raymond('stop', 'r1', '--now')).code).toBe(0);
  });
});

test('without a run id the only running run is stopped, and none of several', async () => {
  const { cwd, owner, raymond } = await driven();
  writeWorkflow(cwd, 'wf2', { 'START.sh': waiting('<result>r</result>', 'here2') });
  const other = startOwner(cwd, 'wf2', '--run-id', 'r2');
  await appears(cwd, 'here2');
  const { code, err } = await raymond('stop');
  expect(code).toBe(64);
  expect(err).toBe('raymond: several runs are running: r2, r1\nName one: raymond stop RUN\n');
  await raymond('stop', 'r2', '--now');
  expect(await other.exited).toBe(3);
  expect((await raymond('stop', '--now')).out).toContain('r1 has stopped');
  expect(await owner.exited).toBe(3);
});
