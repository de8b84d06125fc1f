import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listRuns } from '../../src/app/library.ts';
import { renderRunTable } from '../../src/cli/reports/run-table.ts';
import { createColorizer } from '../../src/render/text-style.ts';
import { widthOf } from '../../src/render/text-width.ts';
import { serializeSavedRun } from '../../src/storage/run-file.ts';
import { parseSavedRun } from '../../src/storage/run-schema.ts';
import { type CliProject, newCliProject } from './cli-project.ts';
import { appears, startOwner, waiting, writeWorkflow } from './owners.ts';

/** Runs of every sort: `ok`, `bad`, `over` its limit of iterations, and a file that is `broken`. */
async function manySorts(): Promise<CliProject> {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'ok', { 'START.sh': 'echo "<result>r</result>"' });
  writeWorkflow(project.cwd, 'bad', { 'START.sh': 'exit 2' });
  await project.raymond('ok', '--run-id', 'ok-1', '--name', 'The first');
  writeWorkflow(project.cwd, 'over', { 'START.sh': 'echo "<fork next=\\"END.sh\\">END.sh</fork>"', 'END.sh': 'true' });
  await project.raymond('over', '--run-id', 'over-1', '--max-iterations', '1');
  await project.raymond('bad', '--run-id', 'bad-1');
  writeFileSync(join(project.cwd, '.raymond', 'state', 'broken.json'), '{');
  return project;
}

const cellsOf = (out: string): readonly (readonly string[])[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));

test('a folder without runs gets a message that says how to start one', async () => {
  const { raymond } = newCliProject();
  expect(await raymond('list')).toStrictEqual({
    code: 0,
    out: 'There are no runs here yet. `raymond WORKFLOW` starts one.\n',
    err: '',
  });
  expect((await raymond('list', '--json')).out).toBe('{"runs":[]}\n');
});

test('shows unfinished runs first, then the latest, and last those that cannot be read, with the reason', async () => {
  const { cwd, raymond } = await manySorts();
  const { code, out, err } = await raymond('ls');
  expect(code).toBe(0);
  expect(cellsOf(out)).toStrictEqual([
    ['RUN', 'NAME', 'STATUS', 'AGENTS', 'COST', 'AGE'],
    ['over-1', 'over', 'iteration limit', '2 live', '$0.00', expect.stringMatching(/^\d+s$/)],
    ['bad-1', 'bad', 'failed', '1 failed', '$0.00', expect.stringMatching(/^\d+s$/)],
    ['ok-1', 'The first', 'completed', '1 ended', '$0.00', expect.stringMatching(/^\d+s$/)],
    ['broken', 'unreadable'],
  ]);
  expect(err).toBe(
    `broken: ${join(cwd, '.raymond', 'state', 'broken.json')} is not as Raymond wrote it: it is not JSON.\n`,
  );
});

test('shows damaged runs beside the healthy ones: a lost state file, and a journal with a flipped bit', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'ok', { 'START.sh': 'echo "<result>r</result>"' });
  for (const id of ['whole', 'no-state', 'flipped', 'no-journal']) await raymond('ok', '--run-id', id, '--quiet');
  rmSync(join(cwd, '.raymond', 'state', 'no-state.json'));
  rmSync(join(cwd, '.raymond', 'runs', 'no-journal', 'journal.jsonl'));
  const journal = join(cwd, '.raymond', 'runs', 'flipped', 'journal.jsonl');
  writeFileSync(journal, readFileSync(journal, 'utf8').replace('"turn_started"', '"turn_storted"'));
  const { code, out, err } = await raymond('list');
  expect(code).toBe(0);
  expect(
    new Map(cellsOf(out).map(([id, ...cells]) => [id, cells.find((cell) => /completed/.test(cell))])),
  ).toStrictEqual(
    new Map([
      ['RUN', undefined],
      ['no-journal', 'completed, damaged'],
      ['flipped', 'completed, damaged'],
      ['no-state', 'completed, damaged'],
      ['whole', 'completed'],
    ]),
  );
  const damaged = (id: string, what: string): string =>
    `The journal of ${id} is damaged: ${what} The run itself is whole and can continue; its logs and costs are not.`;
  const noState =
    'The state file of no-state is missing: the run is read from its journal, and a resume writes the file again.';
  const flipped = damaged('flipped', `${journal}:2: this line of the journal is broken: its checksum does not match.`);
  const noJournal = damaged('no-journal', `${journal.replace('flipped', 'no-journal')} is missing.`);
  expect(err.trimEnd().split('\n')).toStrictEqual([noJournal, flipped, noState]);
  const { runs } = JSON.parse((await raymond('list', '--json')).out) as {
    runs: { run_id: string; damage: string[] }[];
  };
  expect(runs.map(({ run_id, damage }) => [run_id, damage])).toStrictEqual([
    ['no-journal', [noJournal]],
    ['flipped', [flipped]],
    ['no-state', [noState]],
    ['whole', []],
  ]);
  for (const [id, sentence] of [
    ['flipped', flipped],
    ['no-state', noState],
    ['no-journal', noJournal],
  ] as const) {
    const status = await raymond('status', id);
    expect([status.code, status.out.split('\n').slice(0, 2)]).toStrictEqual([0, [`${id}  completed`, sentence]]);
    expect(JSON.parse((await raymond('status', id, '--json')).out)).toMatchObject({ damage: [sentence] });
  }
});

test('prints everything as one document with --json', async () => {
  const { cwd, raymond } = await manySorts();
  const { runs } = JSON.parse((await raymond('list', '--json')).out) as { runs: unknown[] };
  expect(runs).toStrictEqual([
    expect.objectContaining({ run_id: 'over-1', status: 'iteration_limit' }),
    expect.objectContaining({ run_id: 'bad-1', status: 'failed', agent_counts: { live: 0, ended: 0, failed: 1 } }),
    {
      run_id: 'ok-1',
      name: 'The first',
      workflow: 'ok',
      workflow_path: join(cwd, 'ok'),
      status: 'completed',
      owner: null,
      rerun_of: null,
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      cost_usd: 0,
      estimated_usd: 0,
      canned_usd: 0,
      tokens: { input: 0, output: 0, cache_read: 0, cache_creation: 0 },
      agent_counts: { live: 0, ended: 1, failed: 0 },
      damage: [],
      questions: 0,
    },
    { run_id: 'broken', status: 'unreadable', error: expect.stringContaining('it is not JSON') },
  ]);
});

test('a running run has its process, and one whose process was killed has crashed', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', { 'START.sh': waiting('<result>r</result>') });
  const owner = startOwner(cwd, 'wf', '--run-id', 'r1');
  await appears(cwd, 'here');
  const [, running] = cellsOf((await raymond('list')).out);
  expect(running).toContain(`running (${owner.pid})`);
  const entry = { run_id: 'r1', status: 'running', owner: { state: 'alive', pid: owner.pid, host: hostname() } };
  expect(JSON.parse((await raymond('list', '--json')).out)).toMatchObject({ runs: [entry] });
  owner.signal('SIGKILL');
  await owner.exited;
  const { out, err } = await raymond('list');
  expect(cellsOf(out)[1]).toContain('crashed');
  expect(err).toBe('The process of r1 has died. To continue: raymond resume r1\n');
  writeFileSync(join(cwd, 'go'), '');
  expect(await raymond('resume', 'r1', '--quiet')).toMatchObject({ code: 0, out: 'r\n' });
  expect(await raymond('list')).toMatchObject({ out: expect.stringContaining('completed'), err: '' });
});

test('a thousand runs are listed', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', { 'START.sh': 'echo "<result>r</result>"' });
  await raymond('wf', '--run-id', 'r0');
  const states = join(cwd, '.raymond', 'state');
  const saved = parseSavedRun(readFileSync(join(states, 'r0.json'), 'utf8'), 'r0.json');
  for (let number = 1; number < 1000; number++) {
    const run = { ...saved.run, id: `r${number}` };
    cpSync(join(states, '../runs/r0'), join(states, '../runs', run.id), { recursive: true });
    writeFileSync(join(states, `${run.id}.json`), serializeSavedRun({ ...saved, run }));
  }
  const { out } = await raymond('list');
  const rows = cellsOf(out).slice(1);
  expect(rows).toHaveLength(1000);
  expect(rows.every((cells) => cells.includes('completed'))).toBe(true);
  expect(new Set(rows.map(([id]) => id)).size).toBe(1000);
}, 120_000);

describe('on a screen', () => {
  const pageOf = (columns: number) => ({ columns, colorize: createColorizer(false), now: Date.now() });

  test.each([
    [80, 'RUN     NAME       STATUS           AGENTS     COST  AGE', 'over-1'],
    [60, 'RUN     NAME       STATUS           AGENTS     COST  AGE', 'over-1'],
    [50, 'RUN     STATUS           AGENTS     COST  AGE', 'over-1'],
    [38, 'RUN     STATUS            COST  AGE', 'over-1'],
    [30, 'over-1  over', '  iteration limit  2 live'],
    [20, 'over-1  over', '  iteration limit'],
  ])('with %i columns every line fits, and the least important columns are omitted', async (columns, first, second) => {
    const { cwd } = await manySorts();
    const lines = renderRunTable(await listRuns(cwd), pageOf(columns));
    expect(lines[0]).toBe(first);
    expect(lines[1]).toMatch(new RegExp(`^${second}`));
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  });

  test('an id that is wider than the screen is not shortened, because it is to be copied', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', { 'START.sh': 'echo "<result>r</result>"' });
    const id = 'x'.repeat(60);
    await raymond('wf', '--run-id', id);
    expect(renderRunTable(await listRuns(cwd), pageOf(40))[0]).toBe(id);
  });

  test('a name cannot control the terminal', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', { 'START.sh': 'echo "<result>r</result>"' });
    await raymond('wf', '--run-id', 'r1', '--name', 'a\u001b[2Jb\nc');
    expect(cellsOf((await raymond('list')).out)[1]?.[1]).toBe('ab c');
  });
});

test('a folder in place of a state file is tolerated', async () => {
  const { cwd, raymond } = await manySorts();
  rmSync(join(cwd, '.raymond', 'state', 'ok-1.json'));
  mkdirSync(join(cwd, '.raymond', 'state', 'ok-1.json'));
  const { code, out, err } = await raymond('list');
  expect(code).toBe(0);
  expect(cellsOf(out)).toContainEqual(['ok-1', 'unreadable']);
  expect(err).toContain('ok-1: ');
});

test('an agent that a join has ended is not live', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', {
    'START.sh': "echo '<fork>SLOW</fork><fork>QUICK</fork><join wait=any cancel=true>END</join>'",
    'SLOW.sh': 'sleep 60',
    'QUICK.sh': 'echo "<result>r</result>"',
    'END.sh': 'echo "<result>r</result>"',
  });
  await raymond('wf', '--run-id', 'r1');
  expect((await raymond('list')).out).toMatch(/\nr1 +wf +completed +2 ended, 1 cancelled +/);
  expect(JSON.parse((await raymond('list', '--json')).out).runs[0].agent_counts).toStrictEqual({
    live: 0,
    ended: 2,
    failed: 0,
  });
});
