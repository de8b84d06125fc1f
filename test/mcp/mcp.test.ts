import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TOOLS } from '../../src/mcp/mcp-server.ts';
import { newCliProject } from '../cli/cli-project.ts';
import { appears, waiting, writeWorkflow } from '../cli/owners.ts';
import { checkDocument, checkToolAnswer } from '../documents/check-documents.ts';
import { git } from '../git.ts';

interface Reply {
  readonly result?: {
    readonly tools?: { readonly name: string; readonly annotations: { readonly readOnlyHint: boolean } }[];
    readonly structuredContent?: Record<string, unknown>;
    readonly content?: { readonly type: string; readonly text: string; readonly uri: string }[];
    readonly contents?: { readonly mimeType: string; readonly text: string }[];
    readonly isError?: boolean;
  };
  readonly error?: { readonly message: string };
}

/** A client of `raymond mcp` in a new project. */
function connect(env: NodeJS.ProcessEnv = {}, flags: readonly string[] = []) {
  const project = newCliProject();
  const child: ChildProcess = spawn(process.execPath, [resolve('dist/raymond.js'), 'mcp', ...flags], {
    cwd: project.cwd,
    env: { ...process.env, RAYMOND_REPLAY: 'fast', XDG_CONFIG_HOME: project.configHome, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise<number | null>((done) => child.on('close', done));
  onTestFinished(async () => {
    child.stdin?.end();
    expect(await exited).toBe(0);
  });
  const waitingFor = new Map<number, (reply: Reply) => void>();
  if (child.stdout === null) throw new Error('no output');
  createInterface(child.stdout).on('line', (line) => {
    const reply = JSON.parse(line) as Reply & { id?: number };
    if (reply.id !== undefined) waitingFor.get(reply.id)?.(reply);
  });
  const send = (message: object): boolean | undefined =>
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let id = 0;
  const ask = (method: string, params: object = {}): Promise<Reply> =>
    new Promise((done) => {
      id += 1;
      waitingFor.set(id, done);
      send({ id, method, params });
    });
  const opened = ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  }).then(() => send({ method: 'notifications/initialized' }));
  const call = async (name: string, args: object = {}): Promise<NonNullable<Reply['result']>> => {
    await opened;
    const { result, error } = await ask('tools/call', { name, arguments: args });
    if (result?.structuredContent !== undefined) checkToolAnswer(name, result.structuredContent);
    return result ?? { isError: true, content: [{ type: 'text', text: error?.message ?? '', uri: '' }] };
  };
  const list = async (): Promise<NonNullable<NonNullable<Reply['result']>['tools']>> => {
    await opened;
    return (await ask('tools/list')).result?.tools ?? [];
  };
  const read = async (uri: string): Promise<NonNullable<Reply['result']>['contents']> => {
    await opened;
    return (await ask('resources/read', { uri })).result?.contents;
  };
  return { ...project, call, list, read, write: (text: string) => child.stdin?.write(text) };
}

describe('raymond mcp', () => {
  test('lists its tools, and says which of them only read', async () => {
    const { list } = connect();
    const tools = await list();
    expect(tools.map(({ name }) => name)).toStrictEqual(TOOLS.map(({ name }) => name));
    const acting = tools.filter(({ annotations }) => !annotations.readOnlyHint).map(({ name }) => name);
    expect(acting.sort()).toStrictEqual(['start_run', 'stop_run', 'test']);
  });

  test('starts a run that continues by itself, awaits it and reads its log', async () => {
    const { call, cwd } = connect();
    writeWorkflow(cwd, 'wf', { 'START.sh': waiting('<result>done</result>') });
    const started = (await call('start_run', { workflow: 'wf', wait_seconds: 0 })).structuredContent ?? {};
    expect(started).toMatchObject({ status: 'running' });
    await appears(cwd, 'here');
    writeFileSync(join(cwd, 'go'), '');
    const ended = (await call('await_run', { run: started.run_id, wait_seconds: 60 })).structuredContent;
    expect(ended).toMatchObject({ run_id: started.run_id, status: 'completed', agents: [{ result: 'done' }] });
    expect((await call('run_logs')).structuredContent?.log).toContain('START.sh');
    expect((await call('list_runs')).structuredContent).toMatchObject({ runs: [{ run_id: started.run_id }] });
  });

  test('links to what is too large for an answer', async () => {
    const { call, read, raymond, cwd } = connect();
    const fork = '<fork next="NEXT">WORK</fork>';
    writeWorkflow(cwd, 'wf', {
      'START.sh': `for i in {1..60}; do echo '${fork}'; done`,
      'NEXT.sh': 'seq 1000 1030; echo "<result>last words</result>"',
      'WORK.sh': 'echo "<result>worked</result>"',
    });
    await raymond('run', 'wf', '--run-id', 'r1', '--quiet');
    const log = await call('run_logs', { tail: 5 });
    expect(log.structuredContent).toMatchObject({ is_cut: true });
    expect(log.content?.map(({ type, uri }) => [type, uri])).toStrictEqual([
      ['text', undefined],
      ['resource_link', 'raymond://runs/r1/log'],
    ]);
    expect(await read('raymond://runs/r1/log')).toMatchObject([
      { mimeType: 'text/plain', text: expect.stringMatching(/START\.sh, turn 1[\s\S]*last words/) },
    ]);
    const status = await call('run_status');
    expect(status.structuredContent).toMatchObject({ agents_left_out: 11 });
    expect(status.content?.[1]?.uri).toBe('raymond://runs/r1/status');
    const [whole] = (await read('raymond://runs/r1/status')) ?? [];
    checkDocument('Status', JSON.parse(whole?.text ?? ''));
    expect((JSON.parse(whole?.text ?? '') as { agents: object[] }).agents).toHaveLength(61);
    expect((await call('run_logs')).content).toHaveLength(2);
    expect((await call('run_logs', { agent: 'main_work1', tail: 2_000 })).content).toHaveLength(1);
  });

  test('tells in which worktree an agent works', async () => {
    const { call, cwd, raymond } = connect();
    git(cwd, 'init', '-q');
    git(cwd, 'commit', '-q', '--allow-empty', '-m', 'first');
    writeWorkflow(cwd, 'wf', {
      'START.sh': `echo '<fork worktree="auto">W</fork><join>END</join>'`,
      'W.sh': 'echo new > new.txt; echo "<result>worked</result>"',
      'END.sh': 'echo "<result>joined</result>"',
    });
    await raymond('run', 'wf', '--run-id', 'r1', '--quiet');
    const worktree = { branch: 'raymond/r1/main_w1', path: expect.stringMatching(/r1\/main_w1$/), kept: true };
    expect((await call('run_status')).structuredContent).toMatchObject({ agents: [{ id: 'main' }, { worktree }] });
  });

  test.each<[string, object, RegExp]>([
    ['no limit', { budget_usd: 0 }, /budget_usd/],
    ['less than can be counted', { budget_usd: 1e-9 }, /budget_usd/],
    ['less than nothing', { budget_usd: -1 }, /budget_usd/],
    ['more than the settings say', { budget_usd: 2.5 }, /^The budget may be at most \$2, as the settings here say\./],
    ['canned answers of another place', { agent: 'replay:../secret.yaml' }, /^\.\.\/secret\.yaml is not below/],
    ['those behind a link', { agent: 'replay:link.yaml' }, /^link\.yaml is not below the current folder\.$/m],
    ['a file that holds no canned answers', { agent: 'replay:/etc/passwd' }, /agent/],
  ])('starts no run with %s', async (_, args, message) => {
    const { call, ...project } = connect();
    writeWorkflow(project.cwd, 'wf', { 'START.md': 'Hello' });
    writeWorkflow(project.cwd, '.raymond', { 'config.toml': '[raymond]\nbudget = 2\n' });
    const secret = join(project.configHome, 'secret.yaml');
    writeFileSync(secret, 'root:$6$secret');
    symlinkSync(secret, join(project.cwd, 'link.yaml'));
    const { isError, content } = await call('start_run', { workflow: 'wf', ...args });
    const text = content?.[0]?.text ?? '';
    expect([isError, text]).toStrictEqual([true, expect.stringMatching(message)]);
    expect(text).not.toMatch(/secret\$|root:/);
    expect(existsSync(join(project.cwd, '.raymond/runs'))).toBe(false);
  });

  test('stops a run', async () => {
    const { call, cwd } = connect();
    writeWorkflow(cwd, 'wf', { 'START.sh': waiting('<result>done</result>') });
    await call('start_run', { workflow: 'wf', wait_seconds: 0 });
    await appears(cwd, 'here');
    expect((await call('stop_run', { now: true })).structuredContent).toMatchObject({ status: 'paused' });
  });

  test('finds, checks, draws and tests workflows', async () => {
    const { call, cwd } = connect();
    writeWorkflow(cwd, 'wf', {
      'START.sh': '#!/bin/bash\necho "<goto>NOWHERE</goto>"',
      'wf.test.yaml': 'tests:\n  - name: ends\n    expect: { status: completed }\n',
    });
    expect((await call('list_workflows')).structuredContent).toMatchObject({ workflows: [{ path: 'wf', name: 'wf' }] });
    const { errors, findings } = (await call('lint', { workflow: 'wf' })).structuredContent as {
      errors: number;
      findings: { rule: string }[];
    };
    expect([errors, findings[0]?.rule]).toStrictEqual([1, 'missing-state']);
    expect((await call('graph', { workflow: 'wf' })).structuredContent?.mermaid).toContain('START');
    expect((await call('test', { workflow: 'wf' })).structuredContent?.exit_code).not.toBe(0);
  });

  test.each<[string, string, object, string]>([
    ['an unknown run', 'run_status', { run: 'nothing' }, 'no such run: nothing'],
    ['a path that leads nowhere', 'start_run', { workflow: 'nowhere' }, 'there is no'],
    ['a wrong argument', 'start_run', { workflow: 'wf', budget_usd: 'lots' }, 'budget_usd'],
  ])('answers %s with a sentence', async (_, tool, args, message) => {
    const { call } = connect();
    const { isError, content } = await call(tool, args);
    expect(isError).toBe(true);
    expect(content?.[0]?.text).toContain(message);
  });

  test('has no tools inside a turn of a run, so that runs do not start runs', async () => {
    expect(await connect({ RAYMOND_TURN: 'r/m/main/1' }).list()).toStrictEqual([]);
  });
});

test('questions for a person are answered only if the user allows it', async () => {
  const refused = connect();
  expect((await refused.list()).map(({ name }) => name)).not.toContain('answer_question');
  const client = connect({}, ['--allow-answers']);
  writeWorkflow(client.cwd, 'wf', {
    'START.sh': `echo '<ask next="NEXT">Publish it?</ask>'`,
    'NEXT.sh': 'echo "<result>$RAYMOND_INPUT</result>"',
  });
  await client.raymond('run', 'wf', '--run-id', 'r1', '--quiet');
  expect((await client.call('list_questions')).structuredContent).toMatchObject({
    questions: [{ run_id: 'r1', ask_id: 'main-1', question: 'Publish it?' }],
  });
  const answer = { run: 'r1', ask: 'main-1', text: 'Yes' };
  expect((await client.call('answer_question', answer)).structuredContent).toStrictEqual({
    run_id: 'r1',
    ask_id: 'main-1',
    goes_on: true,
  });
  expect((await client.call('await_run', { run: 'r1' })).structuredContent).toMatchObject({ status: 'completed' });
  const late = await client.call('answer_question', answer);
  expect([late.isError, late.content?.[0]?.text]).toStrictEqual([true, expect.stringContaining('is over')]);
});

test('docs/mcp.md lists every tool with its arguments', () => {
  const page = readFileSync(resolve('docs/mcp.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \|[^|]*\|([^|]*)\|$/gm)].map(([, name, args = '']) => [
    name,
    [...args.matchAll(/`(\w+)`/g)].map(([, argument]) => argument).sort(),
  ]);
  expect(rows).toStrictEqual(TOOLS.map(({ name, input }) => [name, Object.keys(input).sort()]));
});

test.each([
  ['is too long', () => `"${'x'.repeat(12 * 1024 * 1024)}"\n`],
  ['is nested too deep', () => `${'['.repeat(20_000)}${']'.repeat(20_000)}\n`],
  ['is no JSON', () => '{{{\n\0\n'],
])('a message that %s does not end the server', async (_, message) => {
  const client = connect();
  client.write(message());
  expect((await client.list()).length).toBeGreaterThan(0);
});

test('an argument with a NUL character is refused', async () => {
  const client = connect();
  expect(await client.call('lint', { workflow: 'a\0b' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('NUL') }],
  });
});
