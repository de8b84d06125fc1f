import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { startMessagesApi } from '../messages-api/server.ts';
import { withEachClaude } from './rig.ts';

const CLI = resolve('dist/raymond.js');
const TOOL = 'mcp__plugin_raymond_raymond__';

/** Runs a command to its end; throws with what it said if it fails. */
function run(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; stdin?: string },
) {
  return new Promise<string>((done, fail) => {
    const { cwd, env, stdin = '' } = options;
    const child = spawn(program, args, { cwd, env });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    child.on('error', fail);
    child.on('close', (code) =>
      code === 0 ? done(output) : fail(new Error(`${args[0]} ended with ${code}: ${output}`)),
    );
  });
}

withEachClaude('the plugin', ({ path }) => {
  test('is installed from the package, starts and reads a run, and has no tools in the turns of that run', async (context) => {
    const root = await mkdtemp(join(tmpdir(), 'raymond-plugin-'));
    const [home, cwd, bin, temporary] = ['home', 'work', 'bin', 'tmp'].map((name) => join(root, name));
    if (home === undefined || cwd === undefined || bin === undefined || temporary === undefined) throw new Error();
    for (const folder of [home, join(cwd, 'wf'), join(cwd, '.raymond'), bin, temporary])
      await mkdir(folder, { recursive: true });
    await writeFile(join(cwd, 'wf', 'START.md'), 'I am START «say <result>it worked</result>»');
    await writeFile(join(bin, 'raymond'), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`);
    await chmod(join(bin, 'raymond'), 0o755);
    await symlink(path, join(bin, 'claude'));
    const api = await startMessagesApi();
    context.onTestFinished(async () => {
      await api.close();
      await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    });
    const env = {
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      HOME: home,
      TMPDIR: temporary,
      CLAUDE_CODE_TMPDIR: temporary,
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'made-up',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
    await run(path, ['plugin', 'marketplace', 'add', resolve('.')], { cwd, env });
    await run(path, ['plugin', 'install', 'raymond@raymond'], { cwd, env });
    const prompt = [
      'I am the user',
      `«tool ${TOOL}list_workflows {}»`,
      `«tool ${TOOL}start_run {"workflow": "wf", "budget_usd": 1, "wait_seconds": 120}»`,
      `«tool ${TOOL}run_logs {}»`,
      '«say All done.»',
    ].join(' ');
    const output = await run(path, ['-p', '--allowedTools', 'mcp__plugin_raymond_raymond'], {
      cwd,
      env,
      stdin: prompt,
    });
    expect(output.trim()).toBe('All done.');
    // Newer versions name tools and skills of plugins in messages.
    const offersOf = (start: string): string => {
      const request = api.requests.find(({ prompt: sent, tools }) => sent.startsWith(start) && tools.includes('Bash'));
      return JSON.stringify([request?.tools, request?.system, request?.messages]);
    };
    expect(offersOf('I am the user')).toMatch(/raymond:explain-run/);
    // The turn of the run has the same home, and so the same plugin.
    expect(offersOf('I am START')).toContain('Bash');
    expect(offersOf('I am START')).not.toMatch(/mcp__plugin_raymond|raymond:explain-run/);
    const last = JSON.stringify(
      api.requests.findLast((request) => request.prompt.startsWith('I am the user'))?.messages,
    );
    expect(last).toContain('it worked');
    expect(last).toMatch(/\\"status\\": ?\\"completed\\"/);
    const { runs } = JSON.parse(await run('raymond', ['list', '--json'], { cwd, env })) as {
      runs: { status: string }[];
    };
    expect(runs).toMatchObject([{ workflow: 'wf', status: 'completed' }]);
  });
});
