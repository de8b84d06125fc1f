import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServeProcess } from '../server/serve-process.ts';
import { newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

const RESULT = 'echo "<result>done</result>"';

test('prints its address, serves the folders of the config file, says once that one is gone, and ends with Ctrl-C', async () => {
  const { cwd, configHome } = newCliProject();
  const env = { ...process.env, XDG_CONFIG_HOME: configHome };
  for (const name of ['one', 'two']) writeWorkflow(join(cwd, name), 'wf', { 'START.sh': RESULT });
  writeWorkflow(cwd, 'three', { 'START.sh': RESULT });
  mkdirSync(join(configHome, 'raymond'));
  writeFileSync(
    join(configHome, 'raymond', 'config.toml'),
    `[raymond]\nserve_roots = [${JSON.stringify(join(cwd, 'one'))}, ${JSON.stringify(join(cwd, 'two'))}]\n`,
  );
  rmSync(join(cwd, 'two'), { recursive: true });
  const server = await startServeProcess(cwd, [], env);
  for (let times = 0; times < 2; times++) {
    const { workflows } = (await (await server.request('/api/workflows')).json()) as { workflows: { path: string }[] };
    expect(workflows.map(({ path }) => path)).toStrictEqual(['wf']);
  }
  server.signal('SIGINT');
  expect(await server.exited).toBe(0);
  expect(server.err()).toBe(
    `Open this address in a browser on this machine. Ctrl-C ends the server; runs continue.\n${join(cwd, 'two')} is not there any more: its runs are not shown.\n`,
  );
});

test('with --root, the config file does not count', async () => {
  const { cwd, configHome } = newCliProject();
  const env = { ...process.env, XDG_CONFIG_HOME: configHome };
  writeWorkflow(cwd, 'wf', { 'START.sh': RESULT });
  mkdirSync(join(configHome, 'raymond'));
  writeFileSync(join(configHome, 'raymond', 'config.toml'), '[raymond]\nserve_roots = ["nowhere"]\n');
  const server = await startServeProcess(cwd, ['--root', '.'], env);
  const { workflows } = (await (await server.request('/api/workflows')).json()) as { workflows: object[] };
  expect(workflows).toHaveLength(1);
});

test.each<[string, readonly string[], string]>([
  [
    'another host without a token',
    ['--host', '0.0.0.0'],
    '--host 0.0.0.0 lets other machines in, so it needs --token-file',
  ],
  ['a token that is too short', ['--token-file', 'short'], '--token-file short must hold at least 16 letters'],
  ['a token file that is not there', ['--token-file', 'none'], '--token-file none cannot be read'],
  ['a root that is no folder', ['--root', 'short'], '--root short is not a folder'],
  ['a port that is none', ['--port', '70000'], '--port must be at most 65535, not 70000'],
])('refuses %s', async (_, args, message) => {
  const { cwd, raymond } = newCliProject();
  writeFileSync(join(cwd, 'short'), 'abc\n');
  const { code, err } = await raymond('serve', ...args);
  expect([code, err]).toStrictEqual([64, expect.stringContaining(message)]);
});
