import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ROUTES } from '../../src/server/app.ts';
import { MAX_BODY_BYTES } from '../../src/server/route.ts';
import { newCliProject } from '../cli/cli-project.ts';
import { appears, waiting, writeWorkflow } from '../cli/owners.ts';
import { checkDocument } from '../documents/check-documents.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const RESULT = 'echo "<result>done</result>"';

/** The id of the only workflow. */
async function workflowId({ get }: TestServer): Promise<string> {
  const { workflows } = (await get('/api/workflows')).body as { workflows: { id: string }[] };
  return workflows[0]?.id ?? '';
}

/** Starts a run of the only workflow and gives its path in the API. */
async function startRun(server: TestServer, options: object = {}): Promise<string> {
  const project = await server.id();
  const { status, body } = await server.post('/api/runs', { project, workflow: await workflowId(server), ...options });
  expect([status, body]).toStrictEqual([201, { run_id: expect.any(String), project }]);
  return `/api/runs/${project}/${body.run_id as string}`;
}

const untilStatus = ({ get }: TestServer, path: string, status: string) =>
  vi.waitFor(async () => expect((await get(path)).body.status).toBe(status), { timeout: 20_000, interval: 50 });

describe('workflows', () => {
  test('are found below the roots, with what their manifests say; one that cannot be read has an error', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', {
      'START.sh': RESULT,
      'workflow.yaml': 'description: Says done.\ndefault_budget: 3\n',
    });
    writeFileSync(join(server.cwd, 'one.yaml'), 'states:\n  START:\n    sh: echo "<result>r</result>"\n');
    writeWorkflow(server.cwd, 'node_modules/b', { 'START.sh': RESULT });
    const { workflows } = (await server.get('/api/workflows')).body as { workflows: Record<string, unknown>[] };
    expect(
      workflows.map(({ path, description, default_budget_usd, error }) => [
        path,
        description,
        default_budget_usd,
        error,
      ]),
    ).toStrictEqual([
      ['one.yaml', null, null, null],
      ['a', 'Says done.', 3, null],
    ]);
  });

  test('of every project in which this user has started runs are found, unless roots are given', async () => {
    const elsewhere = newCliProject();
    const project = { ...newCliProject(), configHome: elsewhere.configHome };
    writeWorkflow(elsewhere.cwd, 'there', { 'START.sh': RESULT });
    writeWorkflow(project.cwd, 'here', { 'START.sh': RESULT });
    await elsewhere.raymond('run', 'there', '--quiet');
    const pathsWith = async (roots: readonly string[]) => {
      const server = await startTestServer({ roots }, project);
      const { workflows } = (await server.get('/api/workflows')).body as { workflows: { path: string }[] };
      return workflows.map(({ path }) => path);
    };
    expect(await pathsWith([])).toStrictEqual(['here', 'there']);
    expect(await pathsWith([project.cwd])).toStrictEqual(['here']);
  });

  test('are shown with their findings and drawn', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', { 'START.sh': 'echo "<goto>NOWHERE</goto>"' });
    const path = `/api/workflows/${await server.id()}/${await workflowId(server)}`;
    const { findings } = (await server.get(path)).body as { findings: { rule: string }[] };
    expect(findings.map(({ rule }) => rule)).toContain('missing-state');
    const drawing = await server.request(`${path}/graph`);
    expect(drawing.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(await drawing.text()).toContain('<svg');
    expect((await server.get(`${path}/graph?format=png`)).status).toBe(422);
  });
});

describe('a run', () => {
  test('is started in a process of its own, watched, and removed', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', { 'START.sh': 'echo "<result>$RAYMOND_INPUT</result>"' });
    const path = await startRun(server, { input: 'it\'s\na "text"', name: 'My run', budget_usd: 2 });
    await untilStatus(server, path, 'completed');
    const { body } = await server.get(path);
    expect(body).toMatchObject({ name: 'My run', budget_usd: 2, needs_you: false, seq: expect.any(Number) });
    expect((body.agents as { result: string }[])[0]?.result).toBe('it\'s\na "text"');
    const { turns } = (await server.get(`${path}/turns`)).body as { turns: Record<string, unknown>[] };
    expect(turns).toMatchObject([
      { agent: 'main', state: 'START.sh', turn: 1, failure: null, duration_ms: expect.any(Number) },
    ]);
    const turn = (await server.get(`${path}/turns/main/1`)).body;
    expect(turn.record).toStrictEqual(turns[0]);
    expect(turn).toMatchObject({ prompt: null, answer: { text: '<result>it\'s\na "text"</result>\n', is_cut: false } });
    expect((await server.get(`${path}/said`)).body).toStrictEqual({
      turns: [
        {
          agent: 'main',
          turn: 1,
          state: 'START.sh',
          first: 0,
          entries: ["<result>it's", 'a "text"</result>'].map((text) => ({ kind: 'prints', text, is_error: false })),
        },
      ],
    });
    expect((await server.request(path, { method: 'DELETE' })).status).toBe(200);
    expect((await server.get(path)).status).toBe(404);
  });

  test('that cannot start says why, in the words of the command', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', { 'START.sh': RESULT, 'workflow.yaml': 'input: { mode: required }\n' });
    const { status, body } = await server.post('/api/runs', {
      project: await server.id(),
      workflow: await workflowId(server),
    });
    expect(status).toBe(409);
    expect(body.detail).toContain('needs an input');
  });

  test('gets canned answers of its own project only, so that nothing shows what is in other files', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', { 'START.sh': RESULT });
    symlinkSync('/etc', join(server.cwd, 'etc'));
    const [project, workflow] = [await server.id(), await workflowId(server)];
    for (const file of ['/etc/passwd', '../../../../../../etc/passwd', 'etc/passwd', '.']) {
      const { status, body } = await server.post('/api/runs', { project, workflow, agent: `replay:${file}` });
      expect([file, status, body.detail]).toStrictEqual([file, 422, 'body.agent: must be a file of the project']);
    }
    writeFileSync(join(server.cwd, 'canned.yaml'), 'answers: {}\n');
    await startRun(server, { agent: 'replay:canned.yaml' });
  });

  test('is stopped and continues, and its server may come and go', async () => {
    const first = await startTestServer();
    writeWorkflow(first.cwd, 'wf', { 'START.sh': waiting('<goto>NEXT</goto>'), 'NEXT.sh': RESULT });
    const path = await startRun(first);
    await appears(first.cwd, 'here');
    expect((await first.request(path, { method: 'DELETE' })).status).toBe(409);
    expect((await first.post(`${path}/resume`)).status).toBe(409);
    expect((await first.post(`${path}/stop`)).status).toBe(202);
    await untilStatus(first, path, 'stopping');
    writeFileSync(join(first.cwd, 'go'), '');
    await untilStatus(first, path, 'paused');
    await first.server.close();
    const second = await startTestServer({}, first);
    expect((await second.get(path)).body).toMatchObject({ status: 'paused', needs_you: true });
    for (const action of ['resume', 'retry', 'stop'])
      expect((await second.post(`${path.slice(0, -1)}/${action}`)).body.detail).toContain('no such run');
    expect((await second.request(path.replace(/[^/]+$/, 'last'), { method: 'DELETE' })).status).toBe(404);
    expect(await second.post(`${path}/resume`, { budget_usd: 7 })).toMatchObject({ status: 202 });
    await untilStatus(second, path, 'completed');
    expect((await second.get(path)).body.budget_usd).toBe(7);
    expect((await second.post(`${path}/stop`)).status).toBe(409);
    expect((await second.post(`${path}/resume`)).status).toBe(409);
  });

  test('that failed is retried', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', { 'START.sh': `test -e go || exit 1\n${RESULT}` });
    const path = await startRun(server);
    await untilStatus(server, path, 'failed');
    expect((await server.post(`${path}/resume`)).status).toBe(409);
    writeFileSync(join(server.cwd, 'go'), '');
    expect((await server.post(`${path}/retry`)).status).toBe(202);
    await untilStatus(server, path, 'completed');
  });
});

describe('the list of runs', () => {
  test('has filters and pages, and shows a damaged run beside the healthy ones', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', { 'START.sh': RESULT });
    for (const id of ['r1', 'r2', 'r3']) await server.raymond('run', 'a', '--run-id', id, '--quiet');
    mkdirSync(join(server.cwd, '.raymond', 'state'), { recursive: true });
    writeFileSync(join(server.cwd, '.raymond', 'state', 'broken.json'), '{');
    const idsOf = async (query: string) => {
      const { runs, total } = (await server.get(`/api/runs${query}`)).body as {
        runs: { run_id: string }[];
        total: number;
      };
      return [total, runs.map(({ run_id }) => run_id)];
    };
    expect(await idsOf('')).toStrictEqual([4, ['r3', 'r2', 'r1', 'broken']]);
    expect(await idsOf('?limit=1&offset=1')).toStrictEqual([4, ['r2']]);
    expect(await idsOf('?status=unreadable')).toStrictEqual([1, ['broken']]);
    expect(await idsOf('?q=R2')).toStrictEqual([1, ['r2']]);
    expect(await idsOf('?workflow=b')).toStrictEqual([0, []]);
    // What has not changed is not read again, what has is.
    const state = join(server.cwd, '.raymond', 'state', 'r1.json');
    writeFileSync(state, readFileSync(state, 'utf8').slice(1));
    const { runs } = (await server.get('/api/runs?q=r1')).body as { runs: object[] };
    expect(runs).toMatchObject([
      { run_id: 'r1', status: 'completed', damage: [expect.stringContaining('r1 is damaged')] },
    ]);
    const journal = join(server.cwd, '.raymond', 'runs', 'r2', 'journal.jsonl');
    writeFileSync(journal, readFileSync(journal, 'utf8').replace('"agent_started"', '"agent_strated"'));
    const { runs: others } = (await server.get('/api/runs?q=r2')).body as { runs: object[] };
    expect(others).toMatchObject([
      { run_id: 'r2', status: 'completed', damage: [expect.stringContaining('journal.jsonl')] },
    ]);
  });

  test('says once that a root has vanished', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', { 'START.sh': RESULT });
    expect((await server.get('/api/runs')).status).toBe(200);
    rmSync(server.cwd, { recursive: true });
    for (let times = 0; times < 3; times++)
      expect((await server.get('/api/runs')).body).toStrictEqual({ total: 0, runs: [] });
    expect(server.messages).toStrictEqual([`${server.cwd} is not there any more: its runs are not shown.`]);
  });
});

describe('the events of a run', () => {
  /** Reads messages of a stream until one of them satisfies. */
  async function readUntil(response: Response, isLast: (message: { seq: number; kinds: string[] }) => boolean) {
    const messages: { seq: number; kinds: string[] }[] = [];
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const [, id] = /^id: (\d+)$/m.exec(part) ?? [];
        const [, data] = /^data: (.*)$/m.exec(part) ?? [];
        if (id === undefined || data === undefined) continue;
        checkDocument('Step', JSON.parse(data));
        const { seq, events } = JSON.parse(data) as { seq: number; events: { kind: string }[] };
        expect(seq).toBe(Number(id));
        messages.push({ seq, kinds: events.map(({ kind }) => kind) });
      }
      const last = messages.at(-1);
      if (last !== undefined && isLast(last)) break;
    }
    return messages;
  }

  test('are streamed as they come; who comes back loses none and gets none twice', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'wf', { 'START.sh': waiting('<goto>NEXT</goto>'), 'NEXT.sh': RESULT });
    const path = await startRun(server);
    await appears(server.cwd, 'here');
    const cut = new AbortController();
    const early = await server.request(`${path}/events`, { signal: cut.signal });
    const before = await readUntil(early, ({ kinds }) => kinds.includes('turn_started'));
    const last = before.at(-1)?.seq ?? -1;
    const rest = server.request(`${path}/events`, { headers: { 'last-event-id': String(last) } });
    writeFileSync(join(server.cwd, 'go'), '');
    const after = await readUntil(await rest, ({ kinds }) => kinds.includes('run_ended'));
    const all = await readUntil(await server.request(`${path}/events`), ({ kinds }) => kinds.includes('run_ended'));
    expect([...before, ...after]).toStrictEqual(all);
    expect(all.flatMap(({ kinds }) => kinds)).toContain('transition');
    // Page by page, in order and once more from the middle.
    const paged: number[] = [];
    for (let [isMore, from] = [true, -1]; isMore; from = paged.at(-1) ?? from) {
      const { steps, more } = (await server.get(`${path}/journal?limit=2&after=${from}`)).body as {
        steps: { seq: number }[];
        more: boolean;
      };
      paged.push(...steps.map(({ seq }) => seq));
      isMore = more;
    }
    expect(paged).toStrictEqual(all.map(({ seq }) => seq));
    const { steps } = (await server.get(`${path}/journal?limit=2&after=${paged[1]}`)).body as { steps: object[] };
    expect(steps).toMatchObject([{ seq: paged[2] }, { seq: paged[3] }]);
  });

  test('come with what running turns say, from the turn on that is under way', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'wf', { 'START.sh': `echo early; ${waiting('late\n<result>done</result>')}` });
    const path = await startRun(server);
    await appears(server.cwd, 'here');
    const { seq } = (await server.get(path)).body;
    const stream = await server.request(`${path}/events?after=${seq}`);
    const turns: { first: number; entries: { text: string }[] }[] = [];
    let text = '';
    for await (const chunk of stream.body ?? []) {
      text += Buffer.from(chunk).toString();
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const [, data] = /^event: delta\ndata: (.*)$/m.exec(part) ?? [];
        if (data !== undefined) checkDocument('TurnDeltas', JSON.parse(data));
        if (data !== undefined) turns.push(...(JSON.parse(data) as { turns: typeof turns }).turns);
      }
      if (turns.length > 0) writeFileSync(join(server.cwd, 'go'), '');
      if (turns.at(-1)?.entries.at(-1)?.text.includes('<result>')) break;
    }
    const entries = turns.flatMap(({ first, entries: all }) => all.map((entry, at) => [first + at, entry]));
    expect(entries).toStrictEqual(
      ['early', 'late', '<result>done</result>'].map((line, at) => [
        at,
        { kind: 'prints', text: line, is_error: false },
      ]),
    );
    expect(turns[0]).toMatchObject({ agent: 'main', turn: 1, state: 'START.sh', first: 0 });
  });

  test('of many readers are read once, and all get the same', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'wf', { 'START.sh': waiting('<goto>NEXT</goto>'), 'NEXT.sh': RESULT });
    const path = await startRun(server);
    const streams = await Promise.all(Array.from({ length: 50 }, () => server.request(`${path}/events`)));
    writeFileSync(join(server.cwd, 'go'), '');
    const read = await Promise.all(
      streams.map((stream) => readUntil(stream, ({ kinds }) => kinds.includes('run_ended'))),
    );
    for (const messages of read) expect(messages).toStrictEqual(read[0]);
  });
});

describe('a bad request', () => {
  test.each<[string, number, () => Partial<RequestInit> & { path: string }]>([
    ['an unknown path', 404, () => ({ path: '/api/nothing' })],
    ['an unknown project', 404, () => ({ path: '/api/runs/x/r1' })],
    ['a wrong method', 405, () => ({ path: '/api/costs', method: 'POST', body: '{}' })],
    [
      'a body that is no JSON',
      422,
      () => ({ path: '/api/runs', method: 'POST', body: '{', headers: { 'content-type': 'application/json' } }),
    ],
    [
      'a form',
      415,
      () => ({
        path: '/api/runs',
        method: 'POST',
        body: 'a=b',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ],
    [
      'a body that is too large',
      413,
      () => ({ path: '/api/runs', method: 'POST', body: ' '.repeat(MAX_BODY_BYTES + 1) }),
    ],
    ['an unknown parameter', 422, () => ({ path: '/api/runs?colour=red' })],
    ['an unknown status', 422, () => ({ path: '/api/runs?status=paused,broken' })],
    ['a limit that is no number', 422, () => ({ path: '/api/runs?limit=many' })],
  ])('with %s gets %i and a sentence', async (_, status, make) => {
    const { request } = await startTestServer();
    const { path, ...init } = make();
    const response = await request(path, init);
    const body = (await response.json()) as Record<string, unknown>;
    expect(body).toMatchObject({ status, detail: expect.stringMatching(/[.:]/) });
    expect(response.status).toBe(status);
  });

  test('with a wrong body gets the path of what is wrong', async () => {
    const { post } = await startTestServer();
    const { status, body } = await post('/api/runs', { project: 'x', workflow: 'y', budget_usd: 'lots' });
    expect(status).toBe(422);
    expect(body.errors).toStrictEqual([{ path: 'body.budget_usd', message: 'expected number, received string' }]);
    const other = await post('/api/runs', { project: 'x', colour: 'red', size: 1 });
    expect(other.body.errors).toStrictEqual([
      { path: 'body.workflow', message: 'it is missing' },
      { path: 'body.colour', message: 'there is no such field' },
      { path: 'body.size', message: 'there is no such field' },
    ]);
  });

  test('for a run with a damaged journal gets a sentence', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'a', { 'START.sh': RESULT });
    await server.raymond('run', 'a', '--run-id', 'r1', '--quiet');
    appendFileSync(join(server.cwd, '.raymond', 'runs', 'r1', 'journal.jsonl'), 'junk\njunk\n');
    const { status, body } = await server.get(`/api/runs/${await server.id()}/r1`);
    expect([status, body.detail]).toStrictEqual([422, expect.stringContaining('this line of the journal is broken')]);
  });
});

test('the OpenAPI document has every route and nothing else, and no secret is in any answer', async () => {
  const { get, server } = await startTestServer();
  const { body } = await get('/api/openapi.json');
  const { paths } = body as { paths: Record<string, Record<string, unknown>> };
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(documented.sort()).toStrictEqual(ROUTES.map(({ method, path }) => `${method} /api${path}`).sort());
  expect(JSON.stringify(paths)).not.toContain(server.token);
  const isJson = ({ response }: (typeof ROUTES)[number]): boolean => response.type === 'application/json';
  expect(ROUTES.filter((route) => isJson(route) !== (route.response.schema !== null))).toStrictEqual([]);
  const { schemas } = body.components as { schemas: Record<string, object> };
  const named = [...JSON.stringify(body).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect([...new Set(named)].sort()).toStrictEqual(Object.keys(schemas).sort());
  const guide = [...readFileSync('docs/serve.md', 'utf8').matchAll(/^\| `([A-Z]+) (\/api\S+)` \|/gm)].map(
    ([, method = '', path]) => `${method.toLowerCase()} ${path}`,
  );
  expect(guide.sort()).toStrictEqual(documented);
});
