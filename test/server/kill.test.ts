import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type CliProject, newCliProject } from '../cli/cli-project.ts';
import { appears, waiting, writeWorkflow } from '../cli/owners.ts';
import { type ServeProcess, startServeProcess } from './serve-process.ts';

interface Listed {
  readonly run_id: string;
  readonly status: string;
  readonly damage: readonly string[];
}

/** A project with one workflow that waits for a file, and a folder of its own for temporary files. */
function newProject() {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'wf', {
    'START.sh': waiting('<goto>NEXT</goto>'),
    'NEXT.sh': 'echo "<result>$RAYMOND_INPUT</result>"',
  });
  const temporary = join(project.configHome, 'tmp');
  mkdirSync(temporary);
  const env = { ...process.env, XDG_CONFIG_HOME: project.configHome, TMPDIR: temporary };
  const serve = (): Promise<ServeProcess> => startServeProcess(project.cwd, ['--root', '.'], env);
  return { ...project, serve, temporary };
}

const runsOf = async ({ raymond }: CliProject): Promise<readonly Listed[]> =>
  (JSON.parse((await raymond('list', '--json')).out) as { runs: Listed[] }).runs;

const until = (project: CliProject, status: string) =>
  vi.waitFor(async () => expect((await runsOf(project))[0]?.status).toBe(status), { timeout: 20_000, interval: 30 });

/** What it takes to start the only workflow. */
async function startBody({ request }: ServeProcess): Promise<object> {
  const { workflows } = (await (await request('/api/workflows')).json()) as {
    workflows: { id: string; project: string }[];
  };
  const [{ id = '', project = '' } = {}] = workflows;
  return { project, workflow: id, input: 'all well' };
}

/** The killed server leaves its request without an answer. */
const unanswered = (request: Promise<unknown>): Promise<unknown> => request.catch(() => 'the server is gone');

test('a run does not notice that its server is killed while it streams, stops and resumes it', async () => {
  const project = newProject();
  const first = await project.serve();
  const body = (await startBody(first)) as { project: string };
  const { run_id } = (await (await first.post('/api/runs', body)).json()) as Listed;
  const path = `/api/runs/${body.project}/${run_id}`;
  const reader = (await first.request(`${path}/events`)).body?.getReader();
  await reader?.read();
  await appears(project.cwd, 'here');
  await first.crash();
  await unanswered(Promise.resolve(reader?.read()));
  expect(await runsOf(project)).toMatchObject([{ run_id, status: 'running' }]);

  const second = await project.serve();
  const stopping = unanswered(second.post(`${path}/stop`));
  await until(project, 'stopping');
  await second.crash();
  await stopping;
  writeFileSync(join(project.cwd, 'go'), '');
  await until(project, 'paused');

  const third = await project.serve();
  const resuming = unanswered(third.post(`${path}/resume`));
  await vi.waitFor(async () => expect((await runsOf(project))[0]?.status).not.toBe('paused'), { timeout: 20_000 });
  await third.crash();
  await resuming;
  await until(project, 'completed');
  const status = JSON.parse((await project.raymond('status', run_id, '--json')).out) as Record<string, unknown>;
  expect(status).toMatchObject({ damage: [], agents: [{ result: '', turns: 2 }] });
  expect(readdirSync(project.temporary)).toStrictEqual([]);
});

test('a server that is killed while it starts a run leaves a whole run or none', async () => {
  const project = newProject();
  writeFileSync(join(project.cwd, 'go'), '');
  for (const delayMs of [0, 60, 120, 240]) {
    const server = await project.serve();
    const body = await startBody(server);
    const starting = unanswered(server.post('/api/runs', body));
    await delay(delayMs);
    await server.crash();
    await starting;
  }
  await vi.waitFor(
    async () => {
      const others = (await runsOf(project)).filter(({ status }) => status !== 'completed');
      expect(others).toStrictEqual([]);
    },
    { timeout: 20_000, interval: 100 },
  );
});
