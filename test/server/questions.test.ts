import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { waiting, writeWorkflow } from '../cli/owners.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const UPLOADS =
  'upload_slots="a.txt:text/plain" upload_bucket="true" upload_mime="image/*" upload_max_size="10" upload_max_count="2"';

async function startAsking(attributes = ''): Promise<{ server: TestServer; path: string }> {
  const server = await startTestServer();
  writeWorkflow(server.cwd, 'wf', {
    'START.sh': `echo plan > "$RAYMOND_TASK_FOLDER/plan.md"; ln -s /etc/hostname "$RAYMOND_TASK_FOLDER/link.txt"
echo '<ask next="NEXT" display_files="plan.md:The plan,link.txt,gone.png" ${attributes}>Publish it?</ask>'`,
    'NEXT.sh':
      'cp -r "$RAYMOND_TASK_FOLDER/asks/$RAYMOND_ASK_ID" got 2>/dev/null; echo "<result>$RAYMOND_INPUT</result>"',
  });
  await server.raymond('run', 'wf', '--run-id', 'r1', '--quiet');
  return { server, path: `/api/runs/${await server.id()}/r1/questions/main-1` };
}

/** Waits until a run has completed and its process has let go of it. */
const untilCompleted = (server: TestServer, path: string) =>
  vi.waitFor(
    async () => {
      expect((await server.get(path.split('/questions')[0] ?? '')).body.status).toBe('completed');
      const files = readdirSync(join(server.cwd, '.raymond', 'runs', 'r1'));
      expect(files.filter((name) => name.startsWith('owner.'))).toStrictEqual([]);
    },
    { timeout: 20_000 },
  );

const form = (text: string, files: Readonly<Record<string, readonly [content: string, type: string]>>): FormData => {
  const data = new FormData();
  data.set('text', text);
  for (const [name, [content, type]] of Object.entries(files)) data.append('file', new File([content], name, { type }));
  return data;
};

describe('a question in the API', () => {
  test('is listed, answered, and its run continues; a second answer is refused', async () => {
    const { server, path } = await startAsking();
    const { body } = await server.get('/api/questions');
    expect(body).toMatchObject({
      questions: [{ run_id: 'r1', run_status: 'waiting', ask_id: 'main-1', question: 'Publish it?', label: 'main' }],
    });
    const both = await Promise.all([
      server.post(`${path}/answer`, { text: 'Yes' }),
      server.post(`${path}/answer`, { text: 'No' }),
    ]);
    expect(both.map(({ status }) => status).sort()).toStrictEqual([200, 409]);
    const winner = both[0]?.status === 200 ? 'Yes' : 'No';
    expect(both.find(({ status }) => status === 409)?.body.detail).toMatch(/is over: .* answered it/);
    await untilCompleted(server, path);
    expect((await server.get(`/api/runs/${await server.id()}/r1`)).body).toMatchObject({
      agents: [{ result: winner }],
    });
    expect((await server.get('/api/questions')).body).toStrictEqual({ questions: [] });
    expect((await server.post(`${path}/answer`, { text: 'Late' })).status).toBe(409);
  });

  test('puts its run first and among those that need a person, although another agent is at work', async () => {
    const server = await startTestServer();
    writeWorkflow(server.cwd, 'quick', { 'START.sh': 'echo "<result>done</result>"' });
    writeWorkflow(server.cwd, 'wf', {
      'START.sh': `echo '<fork next="ASK" item="a">WORK</fork>'`,
      'ASK.sh': `echo '<ask next="END">Publish it?</ask>'`,
      'WORK.sh': waiting('<result>done</result>'),
      'END.sh': 'echo "<result>done</result>"',
    });
    const running = server.raymond('run', 'wf', '--run-id', 'r1', '--quiet', '--on-ask', 'exit');
    await vi.waitFor(async () => expect((await server.get('/api/questions')).body.questions).toHaveLength(1));
    await server.raymond('run', 'quick', '--run-id', 'r2', '--quiet');
    const list = async (query: string) =>
      ((await server.get(`/api/runs?${query}`)).body.runs as Record<string, unknown>[]).map(
        ({ run_id, status, needs_you }) => [run_id, status, needs_you],
      );
    expect(await list('')).toStrictEqual([
      ['r1', 'running', true],
      ['r2', 'completed', false],
    ]);
    expect(await list('needs_you=true')).toStrictEqual([['r1', 'running', true]]);
    expect(await list('needs_you=false')).toStrictEqual([['r2', 'completed', false]]);
    expect((await server.get(`/api/runs/${await server.id()}/r1`)).body.needs_you).toBe(true);
    writeFileSync(join(server.cwd, 'go'), '');
    await running;
  });

  test('with choices takes a label or its number, and nothing else', async () => {
    const { server, path } = await startAsking('choices="Merge|Discard"');
    const { body } = await server.get('/api/questions');
    expect(body).toMatchObject({
      questions: [{ choices: { labels: ['Merge', 'Discard'], other: false, many: false } }],
    });
    const refused = await server.post(`${path}/answer`, { text: 'Yes' });
    expect([refused.status, refused.body.detail]).toStrictEqual([
      422,
      'the answer was not given: "Yes" is no choice: choose one of 1 Merge, 2 Discard',
    ]);
    expect((await server.post(`${path}/answer`, { text: 'discard' })).status).toBe(200);
    await untilCompleted(server, path);
    expect((await server.get(`/api/runs/${await server.id()}/r1`)).body).toMatchObject({
      agents: [{ result: 'Discard' }],
    });
  });

  test('gives its files, and none that is not in its folder', async () => {
    const { server, path } = await startAsking();
    const plan = await server.request(`${path}/files/0`);
    expect([plan.status, plan.headers.get('content-type'), await plan.text()]).toStrictEqual([
      200,
      'text/plain; charset=utf-8',
      'plan\n',
    ]);
    expect(plan.headers.get('x-content-type-options')).toBe('nosniff');
    for (const number of ['1', '2', '3', '-1', '..%2f..', '0x0'])
      expect((await server.request(`${path}/files/${number}`)).status).toBe(404);
  });

  test('takes the files that its attributes allow, and the agent finds them', async () => {
    const { server, path } = await startAsking(UPLOADS);
    const send = (data: FormData) => server.request(`${path}/answer`, { method: 'POST', body: data });
    const refused = await Promise.all([
      send(form('x', { 'a.txt': ['12345678901', 'text/plain'] })),
      send(form('x', { 'a.txt': ['1', 'application/pdf'] })),
      send(form('x', { 'b.pdf': ['1', 'application/pdf'] })),
      send(form('x', { 'a.txt': ['1', 'text/plain'], 'b.png': ['1', 'image/png'], 'c.png': ['1', 'image/png'] })),
      send(form('x', { '../a.txt': ['1', 'text/plain'] })),
      send(form('', {})),
      send(form('x', { 'b.png': ['1', 'image/png'] })),
    ]);
    expect(refused.map(({ status }) => status)).toStrictEqual([413, 422, 422, 413, 422, 422, 422]);
    expect(await refused.at(-1)?.json()).toMatchObject({
      detail: 'the answer was not given: the question asks for files that are missing: a.txt',
    });
    const accepted = await send(form('here', { 'a.txt': ['hello', 'text/plain'], 'b.png': ['png', 'image/png'] }));
    expect([accepted.status, await accepted.json()]).toStrictEqual([
      200,
      { run_id: 'r1', ask_id: 'main-1', goes_on: true },
    ]);
    await untilCompleted(server, path);
    expect(readFileSync(join(server.cwd, 'got', 'a.txt'), 'utf8')).toBe('hello');
    expect(readFileSync(join(server.cwd, 'got', 'b.png'), 'utf8')).toBe('png');
  });

  test('takes a file of one of several types, whatever the ending of its slot says', async () => {
    const { server, path } = await startAsking('upload_slots="scan.txt:application/pdf|image/png"');
    const send = (data: FormData) => server.request(`${path}/answer`, { method: 'POST', body: data });
    const refused = await send(form('x', { 'scan.txt': ['1', 'text/plain'] }));
    expect(await refused.json()).toMatchObject({
      detail: 'the answer was not given: scan.txt is text/plain, and should be application/pdf or image/png',
    });
    expect((await send(form('x', { 'scan.txt': ['png', 'image/png'] }))).status).toBe(200);
    await untilCompleted(server, path);
    expect(readFileSync(join(server.cwd, 'got', 'scan.txt'), 'utf8')).toBe('png');
  });

  test('`raymond answer` knows the type of a file by its own name', async () => {
    const { server } = await startAsking('upload_slots="scan.txt:application/pdf|image/png"');
    for (const name of ['a.png', 'a.csv']) writeFileSync(join(server.cwd, name), 'x');
    const other = await server.raymond('answer', 'r1', 'x', '--upload', 'scan.txt=a.csv');
    expect(other.err).toContain('scan.txt is text/csv, and should be application/pdf or image/png');
    expect((await server.raymond('answer', 'r1', 'x', '--upload', 'scan.txt=a.png')).code).toBe(0);
  });

  test('refuses what it does not know or cannot read, and still waits', async () => {
    const { server, path } = await startAsking();
    const cases: readonly (readonly [path: string, body: object, status: number])[] = [
      [path.replace('/r1/', '/r9/'), { text: 'x' }, 404],
      [path.replace('main-1', 'main-9'), { text: 'x' }, 404],
      [path.replace(/runs\/[^/]+/, 'runs/none'), { text: 'x' }, 404],
      [path, {}, 422],
      [path, { text: 'x', answer: 'y' }, 422],
      [path, { text: 7 }, 422],
      [path, { text: 'x'.repeat(2 << 20) }, 413],
    ];
    for (const [at, body, status] of cases) expect((await server.post(`${at}/answer`, body)).status).toBe(status);
    const sentence = 'the answer was not given: it is empty';
    expect(await server.post(`${path}/answer`, { text: ' ' })).toMatchObject({
      status: 422,
      body: { detail: sentence, errors: [{ path: 'body.text', message: 'it is empty' }] },
    });
    expect((await server.raymond('answer', 'r1', ' ')).err).toContain(sentence);
    expect((await server.raymond('asks')).out).toContain('Publish it?');
  });

  test('the attributes about files hold for `raymond answer`, too', async () => {
    const { server } = await startAsking(UPLOADS);
    writeFileSync(join(server.cwd, 'long.txt'), '12345678901');
    symlinkSync('long.txt', join(server.cwd, 'b.pdf'));
    const long = await server.raymond('answer', 'r1', 'x', '--upload', 'a.txt=long.txt');
    expect([long.code, long.err]).toStrictEqual([64, expect.stringContaining('a.txt has more than 10 bytes')]);
    const other = await server.raymond('answer', 'r1', 'x', '--upload', 'b.pdf');
    expect(other.err).toContain('b.pdf is application/pdf, and should be image/*');
  });
});
