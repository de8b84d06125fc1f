import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunPlace } from '../../src/app/launcher.ts';
import { openFiles } from '../../src/app/open-files.ts';
import { openDatabaseStorage } from '../../src/cluster/database-storage.ts';
import { type RunningServer, startServer } from '../../src/server/serve.ts';
import { PostgresServer } from '../postgres/server.ts';
import { Fleet } from './fleet.ts';

const CLI = resolve('dist/raymond.js');

let server: PostgresServer;
let fleet: Fleet;
let database: RunPlace;

beforeAll(async () => {
  server = await PostgresServer.start();
  fleet = await Fleet.open(server);
  fleet.write({
    '.raymond/config.toml': '[raymond]\non_ask = "wait"\n',
    'w/START.md': 'Plan it.\n',
    'w/WORK.sh': '#!/bin/bash\necho "<goto>ASK.md</goto>"\necho trouble >&2\n',
    'w/ASK.md': 'Ask.\n',
    'w/END.sh':
      '#!/bin/bash\ncat "$RAYMOND_TASK_FOLDER/asks/$RAYMOND_ASK_ID/a.txt"\necho "<result>It is $RAYMOND_INPUT</result>"\n',
    'x/START.sh': '#!/bin/bash\necho "<ask next=\\"END.sh\\">Which color?</ask>"\n',
    'x/END.sh': '#!/bin/bash\necho "<result>It is $RAYMOND_INPUT</result>"\n',
    'w/answers.yaml': `answers:
  START.md: "First.\\n<goto>WORK.sh</goto>"
  ASK.md: "<ask next=\\"END.sh\\" upload_slots=\\"a.txt:text/plain\\">Which color?</ask>"
`,
  });
  database = await openDatabaseStorage(fleet.address);
  await fleet.worker('one');
});

afterAll(async () => {
  await database.storage.close();
  await fleet.close();
  await server.stop();
});

/** A server, and requests to it. */
class Client {
  readonly server: RunningServer;

  constructor(running: RunningServer) {
    this.server = running;
  }

  static async open(isDatabase: boolean): Promise<Client> {
    const env = { ...process.env, RAYMOND_REPLAY: 'fast', RAYMOND_DATABASE: fleet.address };
    const running = await startServer({
      host: '127.0.0.1',
      port: 0,
      roots: [fleet.folder],
      cwd: fleet.folder,
      env,
      command: [process.execPath, CLI],
      version: '1',
      report: () => {},
      openFolder: (folder) => openFiles(folder, env),
      ...(isDatabase && { shared: database }),
    });
    return new Client(running);
  }

  request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.server.token}`, ...init.headers };
    return fetch(`http://127.0.0.1:${this.server.port}/api${path}`, { ...init, headers });
  }

  async get(path: string): Promise<unknown> {
    const response = await this.request(path);
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  }

  async post(path: string, body: object | FormData = {}): Promise<{ status: number; body: Record<string, unknown> }> {
    const isForm = body instanceof FormData;
    const response = await this.request(path, {
      method: 'POST',
      body: isForm ? body : JSON.stringify(body),
      ...(!isForm && { headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** Reads the stream of a run until `isEnough`. */
  async readEvents(path: string, lastId: number | null, isEnough: (text: string) => boolean): Promise<string> {
    const leaving = new AbortController();
    const headers = lastId === null ? {} : { 'last-event-id': String(lastId) };
    const response = await this.request(path, { headers, signal: leaving.signal });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString('utf8');
      if (isEnough(text)) break;
    }
    leaving.abort();
    return text;
  }
}

/** What may differ: times, ids of processes, sessions, projects and runs, and where everything is. */
const normalize = (data: unknown): unknown =>
  JSON.parse(
    JSON.stringify(data)
      .replaceAll(join(fleet.folder, 'workers/one'), fleet.folder)
      .replaceAll(fleet.folder, 'FOLDER')
      .replaceAll(fleet.database.name, 'FOLDER/.raymond')
      .replace(/\b\d+\.\ds\b/g, 'N s')
      .replace(/w-\d{8}-\d{6}-[0-9a-f]{4}/g, 'RUN')
      .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, 'TIME')
      .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, 'SESSION')
      .replace(
        /"(pid|worked_ms|duration_ms|turns_ms|project|home|id|open_conversations)":("[^"]*"|\d+|null)/g,
        '"$1":"X"',
      )
      .replace(/"(owner)":(\{(?:[^{}]|\{[^}]*\})*\}|null)/g, '"$1":"X"'),
  );

const steps = (text: string): readonly number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

/** Starts a run through the API, answers its question with a file, and reads everything about it. */
async function play(client: Client): Promise<Readonly<Record<string, unknown>>> {
  const { workflows } = ((await client.get('/workflows')) as { body: { workflows: Record<string, string>[] } }).body;
  const workflow = workflows.find(({ path }) => path === 'w');
  const start = { project: workflow?.project, workflow: workflow?.id, agent: 'replay:w/answers.yaml' };
  const started = await client.post('/runs', start);
  expect(started).toMatchObject({ status: 201 });
  const { run_id: id, project } = started.body;
  const run = `/runs/${project}/${id}`;
  const questions = (): Promise<unknown> => client.get('/questions');
  await expect.poll(questions, { timeout: 20_000 }).toMatchObject({ body: { questions: [{ ask_id: 'main-3' }] } });
  const words = await client.post(`${run}/say`, { text: 'Be brief' });
  const asked = { questions: await questions(), run: await client.get(run) };
  const form = new FormData();
  form.set('text', 'blue');
  form.append('file', new File(['content'], 'a.txt', { type: 'text/plain' }));
  const answered = await client.post(`${run}/questions/main-3/answer`, form);
  const again = await client.post(`${run}/questions/main-3/answer`, { text: 'red' });
  const status = async (): Promise<unknown> => ((await client.get(run)) as { body: { status: string } }).body.status;
  await expect.poll(status, { timeout: 20_000 }).toBe('completed');
  const stream = await client.readEvents(`${run}/events`, null, (text) => text.includes('run_ended'));
  const rest = await client.readEvents(`${run}/events`, 3, (text) => text.includes('run_ended'));
  expect(steps(rest)).toStrictEqual(steps(stream).filter((seq) => seq > 3));
  const read = {
    runs: await client.get('/runs'),
    ended: await client.get(run),
    turns: await client.get(`${run}/turns`),
    turn: await client.get(`${run}/turns/main/1`),
    script: await client.get(`${run}/turns/main/2`),
    'no turn': await client.get(`${run}/turns/main/9`),
    said: await client.get(`${run}/said`),
    journal: await client.get(`${run}/journal?limit=4`),
    graph: await client.get(`${run}/graph`),
    costs: await client.get('/costs?by=state'),
    'no run': await client.get(`/runs/${project}/nobody`),
  };
  const stopped = await client.post(`${run}/stop`);
  const resumed = await client.post(`${run}/resume`);
  const removed = await (await client.request(run, { method: 'DELETE' })).json();
  const left = await client.get('/runs');
  return { words, asked, answered, again, ...read, steps: steps(stream), stopped, resumed, removed, left };
}

describe('the API', () => {
  test('is the same for files and for a database', async () => {
    const clients = [await Client.open(false), await Client.open(true)] as const;
    const [files, rows] = await Promise.all(clients.map(play));
    expect(files).toMatchObject({ ended: { body: { agents: [{ result: 'It is blue' }] } }, answered: { status: 200 } });
    for (const name of Object.keys(files ?? {}))
      expect.soft({ name, data: normalize(rows?.[name]) }).toStrictEqual({ name, data: normalize(files?.[name]) });
    for (const { server: running } of clients) await running.close();
  });
});

describe('the tools for MCP clients', () => {
  test('work on the runs of a database', async () => {
    const child = spawn(process.execPath, [CLI, 'mcp', '--allow-answers'], {
      cwd: fleet.folder,
      env: { ...process.env, RAYMOND_REPLAY: 'fast', RAYMOND_DATABASE: fleet.address },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    let id = 0;
    const ask = async (method: string, params: object): Promise<Record<string, Record<string, unknown>>> => {
      id += 1;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      for (;;) {
        const reply = JSON.parse((await lines.next()).value as string);
        if (reply.id === id) return reply.result;
      }
    };
    const call = async (name: string, args: object = {}): Promise<unknown> => {
      const { structuredContent, content } = await ask('tools/call', { name, arguments: args });
      return structuredContent ?? content;
    };
    await ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    const started = { workflow: 'x', wait_seconds: 0 };
    expect(await call('start_run', started)).toMatchObject({ status: 'running' });
    await expect.poll(() => call('list_questions'), { timeout: 20_000 }).toMatchObject({ questions: [{}] });
    expect(await call('list_runs')).toMatchObject({ runs: [{ status: 'running' }] });
    expect(await call('stop_run', { run: 'last' })).toMatchObject({ status: 'paused' });
    const { questions } = (await call('list_questions')) as { questions: { run_id: string; ask_id: string }[] };
    const { run_id: run = '', ask_id: ask_ = '' } = questions[0] ?? {};
    expect(await call('answer_question', { run, ask: ask_, text: 'blue' })).toMatchObject({ goes_on: true });
    expect(await call('await_run', { run, wait_seconds: 20 })).toMatchObject({ status: 'completed' });
    expect(await call('run_logs', { run })).toMatchObject({ log: expect.stringContaining('It is blue') });
    child.stdin.end();
    await once(child, 'close');
  });
});
