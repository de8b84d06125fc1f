import { appendFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { getStatus } from '../../src/app/library.ts';
import { renderStatusReport } from '../../src/cli/reports/status-report.ts';
import type { Agent } from '../../src/core/run/agent.ts';
import { createColorizer } from '../../src/render/text-style.ts';
import { widthOf } from '../../src/render/text-width.ts';
import { type CliProject, newCliProject } from './cli-project.ts';
import { appears, startOwner, waiting, writeWorkflow } from './owners.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

/** A run that called somebody, forked a worker that ended, and was then stopped by its limit of iterations. */
async function stoppedMidway(): Promise<CliProject> {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'wf', {
    'START.sh': 'echo "<fork next=\\"CALL.sh\\">WORK.sh</fork>"',
    'WORK.sh': 'echo "<result>first line"; echo "second line</result>"',
    'CALL.sh': 'echo "<call return=\\"BACK.sh\\">CALLEE.sh</call>"',
    'CALLEE.sh': 'echo "<result>x</result>"',
    'BACK.sh': 'echo "<result>over</result>"',
  });
  await project.raymond('wf', '--run-id', 'r1', '--max-iterations', '3');
  return project;
}

test('prints the state of each agent, its path, what the run waits for and how to resume it', async () => {
  const { cwd, raymond } = await stoppedMidway();
  const { code, out, err } = await raymond('status');
  expect([code, err]).toStrictEqual([0, '']);
  const [head, facts, agents, transitions, outlook] = partsOf(out);
  expect(head).toBe('r1  iteration limit');
  expect(facts).toStrictEqual([
    `workflow  ${join(cwd, 'wf')}`,
    expect.stringMatching(/^started {3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d, \d+s ago$/),
    expect.stringMatching(/^at work {3}\d+:\d\d$/),
    'cost      $0.00 of $10.00',
    'states    3 of 3 entered',
  ]);
  expect(agents).toStrictEqual([
    'AGENT       STATE      DOING             TIME',
    expect.stringMatching(/^main {8}CALLEE\.sh {2}to continue here {2}\d:\d\d$/),
    '  returns to BACK.sh',
    expect.stringMatching(/^main_work1 {2}WORK\.sh {4}ended {13}\d:\d\d$/),
    '  = first line second line',
  ]);
  expect(transitions?.slice(1).map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ''))).toStrictEqual(
    expect.arrayContaining([
      'main        START.sh → CALL.sh (fork)',
      'main        CALL.sh → CALLEE.sh (call)',
      'main_work1  WORK.sh → end (result)',
    ]),
  );
  expect(outlook).toStrictEqual([
    'The limit of 3 iterations is reached.',
    'To continue: raymond resume r1 --max-iterations 6',
  ]);
  expect((await raymond('resume', 'r1', '--max-iterations', '6', '--quiet')).code).toBe(0);
  expect(partsOf((await raymond('status', 'r')).out).at(-1)).toStrictEqual(['Every agent has ended with a result.']);
});

/** The first line, and the paragraphs as lines. */
function partsOf(out: string): [head: string, ...parts: string[][]] {
  const [first = '', ...rest] = out.trimEnd().split('\n\n');
  const [head = '', ...facts] = first.split('\n');
  return [head, facts, ...rest.map((part) => part.split('\n'))];
}

test('prints the same as one document with --json', async () => {
  const { cwd, raymond } = await stoppedMidway();
  const main = {
    id: 'main',
    label: 'main',
    task_folder: join(cwd, '.raymond/tasks/r1/main'),
    parent: null,
    status: 'ready',
    state: 'CALLEE.sh',
    evaluator: null,
    joined: false,
    worktree: null,
    home: null,
    waits_for_workers: null,
    said_waiting: 0,
    since: TIME,
    until: null,
  };
  const work = {
    id: 'main_work1',
    label: 'main_work1',
    task_folder: join(cwd, '.raymond/tasks/r1/main_work1'),
    parent: 'main',
    status: 'ended',
    state: 'WORK.sh',
    evaluator: null,
    joined: false,
    worktree: null,
    home: null,
    waits_for_workers: null,
    said_waiting: 0,
    since: TIME,
    until: null,
  };
  const tokens = { input: 0, output: 0, cache_read: 0, cache_creation: 0 };
  const spent = { started_at: TIME, turns_ms: expect.any(Number), cost_usd: 0, tokens };
  expect(JSON.parse((await raymond('status', 'last', '--json')).out)).toStrictEqual({
    run_id: 'r1',
    name: 'wf',
    workspace: null,
    workflow: 'wf',
    workflow_path: join(cwd, 'wf'),
    run_folder: join(cwd, '.raymond/tasks/r1/shared'),
    status: 'iteration_limit',
    owner: null,
    rerun_of: null,
    damage: [],
    started_at: TIME,
    worked_ms: expect.any(Number),
    cost_usd: 0,
    estimated_usd: 0,
    canned_usd: 0,
    tokens,
    models: [],
    warnings: [],
    warnings_left_out: 0,
    quota: null,
    budget_usd: 10,
    iterations: 3,
    max_iterations: 3,
    agents: [
      {
        ...main,
        result: null,
        error: null,
        session_id: null,
        stack: [{ state: 'BACK.sh', session_id: null }],
        turns: 2,
        ...spent,
      },
      { ...work, result: 'first line\nsecond line', error: null, session_id: null, stack: [], turns: 1, ...spent },
    ],
    archived_agents: 0,
    open_conversations: 0,
    questions: [],
    transitions: expect.arrayContaining([
      {
        at: TIME,
        agent: 'main',
        from: 'CALL.sh',
        tag: 'call',
        to: 'CALLEE.sh',
        cost_usd: 0,
        duration_ms: expect.any(Number),
        tokens,
        decided_by: 'answer',
        decider: null,
        why: null,
      },
    ]),
    waits_for: 'The limit of 3 iterations is reached.',
    next: 'raymond resume r1 --max-iterations 6',
  });
});

describe('the next steps', () => {
  test('for a failed agent are the reason and the command that retries it', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', { 'START.sh': 'echo oh no >&2; exit 3' });
    await raymond('wf', '--run-id', 'r1');
    expect((await raymond('status')).out).toMatch(
      /\n\n\[main\] failed: START\.sh: .*exit code 3\n {2}oh no\nTo continue: raymond resume r1 --retry\n$/,
    );
  });

  test('for a running run are the running turns, and how to watch and stop it', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', { 'START.sh': waiting('<result>r</result>') });
    const owner = startOwner(cwd, 'wf', '--run-id', 'r1');
    await appears(cwd, 'here');
    const { out } = await raymond('status');
    expect(out).toContain(`r1  running (process ${owner.pid})\n`);
    expect(out).toMatch(/\nmain {3}START\.sh {2}running since \d\d:\d\d {2}\d:\d\d\n/);
    expect(partsOf(out).at(-1)).toStrictEqual([
      '1 turn is under way.',
      'To watch it: raymond logs r1 --follow',
      'To stop it: raymond stop r1',
    ]);
    expect(JSON.parse((await raymond('status', '--json')).out)).toMatchObject({
      status: 'running',
      owner: { state: 'alive', pid: owner.pid, host: hostname() },
    });
    owner.signal('SIGKILL');
    await owner.exited;
    expect(partsOf((await raymond('status')).out).at(-1)).toStrictEqual([
      `Its process ${owner.pid} is gone. 1 turn was under way; a resume finds out what came of it.`,
      'To continue: raymond resume r1',
    ]);
  });

  test('for a run on another machine say that it cannot be observed', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', { 'START.sh': waiting('<result>r</result>') });
    const owner = startOwner(cwd, 'wf', '--run-id', 'r1');
    await appears(cwd, 'here');
    owner.signal('SIGKILL');
    await owner.exited;
    const facts = { pid: 7, startTime: '1', bootId: 'x', namespace: null, host: 'far' };
    writeFileSync(join(cwd, '.raymond', 'runs', 'r1', 'owner.1'), JSON.stringify(facts));
    expect(partsOf((await raymond('status')).out).at(-1)).toStrictEqual([
      'Process 7 on far drives it: what it does cannot be seen from here.',
      'If that process is gone: raymond resume r1 --take-over',
    ]);
  });
});

test('a run is read while its owner writes, and the output is always consistent', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', {
    'START.sh': 'echo x >> n; [ $(wc -l < n) -lt 60 ] && echo "<reset>START</reset>" || echo "<result>r</result>"',
  });
  const owner = startOwner(cwd, 'wf', '--run-id', 'r1', '--max-iterations', '0');
  await appears(cwd, 'n');
  let looks = 0;
  for (let status = 'running'; status === 'running'; looks++) {
    const seen = JSON.parse((await raymond('status', 'r1', '--json')).out) as {
      status: string;
      iterations: number;
      agents: { turns: number }[];
      transitions: unknown[];
    };
    status = seen.status;
    expect(seen.agents[0]?.turns).toBe(seen.iterations);
    expect(seen.transitions.length).toBeLessThanOrEqual(10);
    if (seen.iterations > 11) expect(seen.transitions).toHaveLength(10);
  }
  expect(looks).toBeGreaterThan(1);
  expect(await owner.exited).toBe(0);
}, 60_000);

test('an incomplete line at the end of the journal is ignored and left unchanged', async () => {
  const { cwd, raymond } = await stoppedMidway();
  const whole = (await raymond('status', '--json')).out;
  appendFileSync(join(cwd, '.raymond', 'runs', 'r1', 'journal.jsonl'), '{"seq":99,"head"');
  expect((await raymond('status', '--json')).out).toBe(whole);
});

describe('on a narrow screen', () => {
  test.each([[80], [60], [40], [30]])('with %i columns only commands are wider', async (columns) => {
    const { cwd } = await stoppedMidway();
    const lines = renderStatusReport(await getStatus('r1', cwd), {
      columns,
      colorize: createColorizer(false),
      now: Date.now(),
    });
    const toBeCopied = /^To continue: |^workflow|^ {2}\/|session /;
    for (const line of lines.filter((each) => !toBeCopied.test(each))) {
      expect(widthOf(line)).toBeLessThanOrEqual(columns);
    }
    expect(lines.join('\n')).toContain('CALLEE.sh');
  });

  test('a hundred agents are folded in a terminal, ended ones first; a pipe gets all', async () => {
    const { cwd } = await stoppedMidway();
    const { run, ...report } = await getStatus('r1', cwd);
    const [main, worker] = run.agents as readonly [Agent, Agent];
    const workers = Array.from({ length: 99 }, (_, at) => ({ ...worker, id: `w${at}` }));
    const crowded = { ...report, run: { ...run, agents: [...workers, main] } };
    const page = { colorize: createColorizer(false), now: Date.now() };
    const onScreen = renderStatusReport(crowded, { ...page, columns: 80 });
    expect(onScreen.filter((line) => line.includes('WORK.sh    ended'))).toHaveLength(29);
    expect(onScreen).toContain('… and 70 more agents: --all shows them');
    expect(onScreen.some((line) => /^main +CALLEE\.sh /.test(line))).toBe(true);
    const piped = renderStatusReport(crowded, { ...page, columns: Number.POSITIVE_INFINITY });
    expect(piped.filter((line) => line.includes('WORK.sh    ended'))).toHaveLength(99);
  });
});
