/** Every kind of document that Raymond emits, for the same runs each time: no key may change by accident. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openFiles } from '../../src/app/open-files.ts';
import { TOOLS } from '../../src/mcp/mcp-server.ts';
import { QUESTION_TOOLS } from '../../src/mcp/run-tools.ts';
import { writeWorkflow } from '../cli/owners.ts';
import { startTestServer } from '../server/test-server.ts';

const COSTLY = '{ text: <goto>WORK.sh</goto>, cost: 0.25 }';

function writeProject(cwd: string): void {
  writeWorkflow(cwd, 'all', {
    'START.md': '---\nallowed_transitions:\n  - { tag: goto, target: WORK.sh }\n---\nPlan it.\n',
    'WORK.sh': `echo '<print>working</print><fork item="one">HELP.sh</fork><join>CHECK.sh</join>'`,
    'HELP.sh': `echo trouble >&2; echo '<result>helped</result>'`,
    'CHECK.sh': `echo '<call return="ASK.sh">SUB.sh</call>'`,
    'SUB.sh': `echo '<result>checked</result>'`,
    'ASK.sh': `echo '<ask next="END.sh" display_files="a.md" upload_slots="b.txt:text/plain" timeout="9000h" timeout_next="END.sh">Which color?</ask>'`,
    'END.sh': 'echo "<result>$RAYMOND_RESULT</result>"',
    'one.test.yaml': `answers: { START: ${COSTLY} }\nasks: { ASK.sh: { text: blue, files: { b.txt: b } } }\nexpect: { result: red }\n`,
    'two.test.yaml': 'expect: { reslut: a }\n',
  });
  writeWorkflow(cwd, 'bad', {
    'START.md': 'Say <goto>LOOP</goto>.',
    'LOOP.sh': 'echo "<goto>$NEXT</goto>"',
    'AGAIN.sh': 'exit 3',
  });
  writeWorkflow(cwd, 'failing', { 'START.sh': 'echo broken >&2; exit 3' });
  writeFileSync(join(cwd, 'answers.yaml'), `answers:\n  START.md: ${COSTLY}\n`);
  writeFileSync(join(cwd, 'b.txt'), 'b');
}

/** The keys of a document with the types of their values: `agents[].id string`. */
function listKeys(data: unknown, path = ''): readonly string[] {
  if (Array.isArray(data)) return data.flatMap((each) => listKeys(each, `${path}[]`));
  if (typeof data !== 'object' || data === null) return [`${path} ${data === null ? 'null' : typeof data}`];
  return Object.entries(data).flatMap(([name, each]) => listKeys(each, path === '' ? name : `${path}.${name}`));
}

const collected = new Map<string, readonly string[]>();

function collect(name: string, data: unknown): void {
  collected.set(name, [...new Set(listKeys(data))].sort());
}

test('documents keep their keys, and the types of their values', { timeout: 120_000 }, async () => {
  const server = await startTestServer();
  const { cwd, raymond } = server;
  writeProject(cwd);
  const run = async (name: string, ...argv: readonly string[]): Promise<void> => {
    const { out } = await raymond(...argv);
    collect(
      name,
      name.includes('lines')
        ? out
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : JSON.parse(out),
    );
  };
  const settings = ['--agent', 'replay:answers.yaml', '--parallel-scripts', '1', '--var', 'color=blue'];
  await run('run that asks', 'all', '--run-id', 'r1', '--json', ...settings);
  await run('run with lines of events', 'all', '--run-id', 'r2', '--events', ...settings);
  await run('failed run', 'failing', '--run-id', 'r3', '--json');
  await run('asks', 'asks', '--json');
  await run('status that asks', 'status', 'r1', '--json');
  const base = `/api/runs/${await server.id()}`;
  const get = async (name: string, path: string): Promise<void> => collect(`api ${name}`, await server.get(path));
  await get('questions', '/api/questions');
  await get('run that asks', `${base}/r1`);
  const context = {
    cwd,
    ...openFiles(cwd, process.env),
    env: process.env,
    command: [process.execPath, resolve('dist/raymond.js')] as const,
    version: '1.2.3',
    now: Date.now,
  };
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<void> => {
    const tool = [...TOOLS, ...QUESTION_TOOLS].find((each) => each.name === name);
    const given = Object.fromEntries(
      Object.entries(tool?.input ?? {}).flatMap(([key, schema]) => {
        const value = schema.parse(args[key]);
        return value === undefined ? [] : [[key, value]];
      }),
    );
    collect(`mcp ${name}`, await tool?.call(given, context));
  };
  await call('list_questions');
  await raymond('answer', 'r1', 'blue', '--upload', 'b.txt', '--resume');
  const form = new FormData();
  form.set('text', 'green');
  form.set('resume', 'false');
  form.set('b.txt', new File(['b'], 'b.txt', { type: 'text/plain' }));
  const answered = await server.request(`${base}/r2/questions/main-5/answer`, { method: 'POST', body: form });
  collect('api answer', { status: answered.status, body: await answered.json() });
  await run('resumed run', 'resume', 'r2', '--json');
  await run('status', 'status', 'r1', '--json');
  await run('status --all', 'status', 'r1', '--json', '--all');
  await run('status of a failed run', 'status', 'r3', '--json');
  writeFileSync(join(cwd, '.raymond', 'state', 'r4.json'), '{');
  await run('list', 'list', '--json');
  await run('list --all', 'list', '--json', '--all');
  await run('recover', 'recover', '--json');
  for (const by of ['run', 'workflow', 'state', 'model']) await run(`costs by ${by}`, 'costs', '--json', '--by', by);
  await run('logs lines', 'logs', 'r1', '--json');
  await run('lint', 'lint', 'all', 'bad', '--json');
  await run('test', 'test', 'all', '--json', '--coverage');
  await run('config', 'config', '--json');
  await run('prune', 'prune', '--json', '--status', 'any');
  await run('worktrees', 'worktrees', '--json');
  await get('projects', '/api/projects');
  await get('workflows', '/api/workflows');
  const { workflows } = (await server.get('/api/workflows')).body as {
    workflows: { id: string; project: string; path: string }[];
  };
  for (const { id, project, path } of workflows) await get(`workflow ${path}`, `/api/workflows/${project}/${id}`);
  await get('runs', '/api/runs');
  await get('run', `${base}/r1`);
  await get('turns', `${base}/r1/turns`);
  await get('turn of a prompt', `${base}/r1/turns/main/1`);
  await get('turn of a script', `${base}/r1/turns/main/2`);
  await get('said', `${base}/r1/said`);
  await get('journal', `${base}/r1/journal`);
  await get('costs', '/api/costs?by=run');
  await get('no run', `${base}/nope`);
  await get('wrong query', '/api/runs?limit=0&nope=1');
  collect('api wrong start', await server.post('/api/runs', { nope: 1 }));
  collect('api stop', await server.post(`${base}/r1/stop`));
  for (const name of ['list_workflows', 'list_runs']) await call(name);
  for (const name of ['lint', 'graph', 'test']) await call(name, { workflow: name === 'lint' ? 'bad' : 'all' });
  for (const name of ['run_status', 'await_run', 'run_logs']) await call(name, { run: 'r1' });
  const lines = [...collected].flatMap(([name, keys]) => [name, ...keys.map((key) => `  ${key}`)]);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden.txt');
});
