import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { interpretAuthStatus } from '../../src/app/doctor/claude.ts';
import { checkNodeVersion } from '../../src/app/doctor/machine.ts';
import type { DoctorResult } from '../../src/app/doctor.ts';
import { handleDoctor } from '../../src/cli/commands/doctor.ts';
import { handleTrust } from '../../src/cli/commands/trust.ts';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import { newRun } from '../../src/core/run/run.ts';
import { initialEvents } from '../../src/core/step.ts';
import { layoutOf } from '../../src/disk/layout.ts';
import { createFileLeases } from '../../src/storage/files/lease.ts';
import { formatClaudeVersion } from '../../src/turns/claude/find-claude.ts';
import { PINNED } from '../claude-code/pinned.ts';
import { startMessagesApi } from '../messages-api/server.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

const TOOLS = '/usr/bin:/bin';

/** A Claude Code that says what it is told to say; only what it needs is on its PATH. */
function withClaude(script: string): CliProject & { readonly env: NodeJS.ProcessEnv } {
  const project = newCliProject();
  const bin = join(project.cwd, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'claude'), 0o755);
  return { ...project, env: { PATH: `${bin}:${TOOLS}`, HOME: project.cwd } };
}

const claudeSaying = (status: string): string =>
  `case $1 in --version) echo "2.1.325 (Claude Code)";; auth) echo '${status}';; esac`;

/** Examines a room, and gives what was found by its name. */
async function examine(
  { terminal }: CliProject,
  env: NodeJS.ProcessEnv,
  words: Readonly<Record<string, string | boolean>> = {},
): Promise<{ code: number; checks: Readonly<Record<string, DoctorResult>> }> {
  const mine = terminal(env);
  const code = await handleDoctor([], { json: true, ...words }, mine);
  const { ok, checks } = JSON.parse(mine.output().out) as { ok: boolean; checks: DoctorResult[] };
  expect(ok).toBe(code === 0);
  return { code, checks: Object.fromEntries(checks.map((each) => [each.name, each])) };
}

describe('the doctor', () => {
  test('reports that everything works', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true,"authMethod":"api_key"}'));
    const mine = project.terminal(project.env);
    expect(await handleDoctor([], {}, mine)).toBe(0);
    const { out } = mine.output();
    expect(out).toMatch(/^✓ Node {9}\d+\.\d+\.\d+ at /m);
    expect(out).toContain(`✓ Claude Code  2.1.325 at ${join(project.cwd, 'bin', 'claude')}\n`);
    expect(out).toContain('✓ signed in    yes, with an API key\n');
    expect(out).toContain('- answers      not asked; ');
    expect(out).toMatch(/^✓ bash {9}\d/m);
    expect(out).toMatch(/\nReady to run\. \d things? to know about: see !\.\n$/);
  });

  test('leaves nothing behind', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    await examine(project, project.env);
    expect(readdirSync(project.cwd)).toStrictEqual(['bin']);
    mkdirSync(join(project.cwd, '.raymond'), { mode: 0o700 });
    const { checks } = await examine(project, project.env);
    expect(checks['.raymond']).toMatchObject({ level: 'ok' });
    expect(checks.rights).toMatchObject({ level: 'ok' });
    expect(readdirSync(join(project.cwd, '.raymond'))).toStrictEqual([]);
  });

  test('reports that Claude Code is missing and where to get it, and continues with the other checks', async () => {
    const { code, checks } = await examine(newCliProject(), { PATH: TOOLS });
    expect(code).toBe(64);
    expect(checks['Claude Code']).toMatchObject({ level: 'error', remedy: expect.stringContaining('--claude PATH') });
    expect(Object.keys(checks)).toStrictEqual([
      'Node',
      'Claude Code',
      'bash',
      'git',
      'sandbox',
      'config',
      '.raymond',
      'disk',
      'limits',
    ]);
  });

  test.each([
    ['is too old', 'echo "2.0.1 (Claude Code)"', 'is Claude Code 2.0.1; Raymond needs 2.1.197 or newer.'],
    ['is something else', 'echo "a clock"', 'does not seem to be Claude Code: it calls itself "a clock".'],
    ['does not work', 'echo "no licence" >&2; exit 3', '--version failed: no licence'],
  ])('reports a claude that %s', async (_, script, message) => {
    const project = withClaude(script);
    const { code, checks } = await examine(project, project.env);
    expect(code).toBe(64);
    expect(checks['Claude Code']).toMatchObject({ level: 'error', message: expect.stringContaining(message) });
  });

  test('checks the claude that is given, else that of the config file', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    const named = join(project.cwd, 'bin', 'claude');
    const env = { PATH: TOOLS };
    expect((await examine(project, env, { claude: named })).checks['Claude Code']).toMatchObject({ level: 'ok' });
    mkdirSync(join(project.cwd, '.raymond'));
    writeFileSync(join(project.cwd, '.raymond', 'config.toml'), `[raymond]\nclaude = ${JSON.stringify(named)}\n`);
    const mine = { ...env, XDG_CONFIG_HOME: project.configHome };
    expect(await handleTrust([], { yes: true }, project.terminal(mine))).toBe(0);
    expect((await examine(project, mine)).checks['Claude Code']).toMatchObject({ level: 'ok' });
  });

  test('runs no program that an untrusted config file names', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    mkdirSync(join(project.cwd, '.raymond'));
    const evil = join(project.cwd, 'evil.sh');
    writeFileSync(evil, `#!/bin/sh\ntouch ${join(project.cwd, 'harm')}\necho 2.1.325\n`);
    chmodSync(evil, 0o755);
    writeFileSync(join(project.cwd, '.raymond', 'config.toml'), `[raymond]\nclaude = ${JSON.stringify(evil)}\n`);
    const { code, checks } = await examine(project, project.env);
    expect(code).toBe(64);
    expect(existsSync(join(project.cwd, 'harm'))).toBe(false);
    expect(checks['Claude Code']).toMatchObject({ level: 'ok', message: expect.stringContaining('bin/claude') });
    expect(checks.config).toMatchObject({
      level: 'error',
      message: expect.stringContaining(`line 2: claude = "${evil}" (runs this program as Claude Code)`),
      remedy: expect.stringContaining('`raymond trust`'),
    });
  });

  test.skipIf(process.geteuid?.() !== 0)('leaves the folder of another user alone (needs root)', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    mkdirSync(join(project.cwd, '.raymond'));
    writeFileSync(join(project.cwd, '.raymond', 'config.toml'), `[raymond]\nmodel = "evil"\n`);
    chownSync(join(project.cwd, '.raymond'), 65534, 65534);
    const { code, checks } = await examine(project, project.env);
    expect(code).toBe(64);
    expect(checks['.raymond']).toMatchObject({
      level: 'error',
      message: expect.stringContaining(`${join(project.cwd, '.raymond')} belongs to nobody, and you are root.`),
    });
    expect(checks.rights).toBeUndefined();
  });

  test('prints the problems of the config file with their lines', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    mkdirSync(join(project.cwd, '.raymond'), { mode: 0o755 });
    const file = join(project.cwd, '.raymond', 'config.toml');
    writeFileSync(file, '[raymond]\nbugdet = 1\nwait = 3\n');
    const { code, checks } = await examine(project, project.env);
    expect(code).toBe(64);
    expect(checks.config).toMatchObject({ level: 'error', message: expect.stringContaining(`${file}:3: `) });
    expect(checks.rights).toMatchObject({ level: 'warning', remedy: `chmod 700 ${dirname(file)}` });
  });

  test('names the file that prevents the folder of runs from being created', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    writeFileSync(join(project.cwd, '.raymond'), '');
    const { checks } = await examine(project, project.env);
    expect(checks['.raymond']).toMatchObject({
      level: 'error',
      message: expect.stringContaining('there is a file where a folder should be'),
      remedy: expect.stringContaining('Move the file away'),
    });
  });

  test('reports runs that cannot be read', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    mkdirSync(join(project.cwd, '.raymond', 'state'), { recursive: true });
    writeFileSync(join(project.cwd, '.raymond', 'state', 'old-run.json'), '{');
    const { checks } = await examine(project, project.env);
    expect(checks.runs).toMatchObject({ level: 'warning', message: '1 of 1 cannot be read: old-run' });
  });

  test('reports runs that crashed', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    const run = newRun({
      id: 'night-1',
      workflow: { name: 'night', path: project.cwd, platform: 'unix' },
      startedAt: 0,
      options: DEFAULT_OPTIONS,
      state: 'START.md',
      cwd: project.cwd,
      input: null,
    });
    const lease = await createFileLeases(layoutOf(join(project.cwd, '.raymond'))).create({
      run,
      events: initialEvents(run),
    });
    await lease.release();
    const { checks } = await examine(project, project.env);
    expect(checks.runs).toMatchObject({ level: 'warning', message: '1 of 1 crashed: night-1' });
  });

  test('fits into a narrow terminal', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":false}'));
    const mine = project.terminal(project.env);
    const screen = {
      write: () => {},
      size: () => ({ columns: 40, rows: 20 }),
      color: false,
      onResize: () => () => {},
      onLeave: () => () => {},
    };
    await handleDoctor([], {}, { ...mine, outIsScreen: true, screen });
    const wide = mine
      .output()
      .out.split('\n')
      .filter((line) => line.length > 40 && !line.includes('/'));
    expect(wide).toStrictEqual([]);
  });

  test('recognizes a git repository', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    expect((await examine(project, project.env)).checks.git).toMatchObject({ level: 'warning' });
    expect((await examine(project, { PATH: join(project.cwd, 'bin') })).checks.git).toMatchObject({
      message: 'not found',
    });
  });

  test('warns of a git that obeys bare repositories which nobody named', async () => {
    const project = withClaude(claudeSaying('{"loggedIn":true}'));
    writeFileSync(join(project.cwd, 'bin/git'), '#!/bin/sh\necho git version 2.34.1\n', { mode: 0o755 });
    expect(
      (await examine(project, { PATH: `${join(project.cwd, 'bin')}:${process.env.PATH}` })).checks.git,
    ).toMatchObject({
      level: 'warning',
      remedy: 'Install git 2.38.0 or newer.',
    });
  });
});

describe('the login status of Claude Code', () => {
  test.each([
    ['{"loggedIn": true, "authMethod": "claude.ai", "email": "me@example.org"}', 'ok', 'yes, with a Claude account'],
    ['{"loggedIn": true, "authMethod": "third_party"}', 'ok', 'yes, through a cloud provider'],
    ['{"loggedIn": true, "authMethod": "toString"}', 'ok', 'yes'],
    ['a notice\n{"loggedIn": true}', 'ok', 'yes'],
    ['{"loggedIn": false, "authMethod": "none"}', 'error', 'no: prompts would not be answered'],
    ['error: unknown command', 'skipped', '`claude auth status` does not say'],
    ['', 'skipped', '`claude auth status` does not say'],
    ['null', 'skipped', '`claude auth status` does not say'],
  ])('%s is understood', (text, level, message) => {
    expect(interpretAuthStatus(text)).toMatchObject({ level, message });
  });
});

test('the required version of Node is that of the package', () => {
  const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const [major = 0, minor = 0] = engines.node.replace('>=', '').split('.').map(Number);
  expect(checkNodeVersion(`${major}.${minor}.0`, 'node').level).toBe('ok');
  expect(checkNodeVersion(`${major}.${minor - 1}.9`, 'node').level).toBe('error');
});

for (const { version, path, isInstalled } of PINNED) {
  const name = `asking Claude Code ${formatClaudeVersion(version)}`;
  const title = isInstalled ? name : `${name} (skipped: node test/claude-code/install.mjs installs it)`;
  describe.skipIf(!isInstalled)(title, { timeout: 200_000 }, () => {
    const envOf = (project: CliProject, url: string): NodeJS.ProcessEnv => ({
      PATH: TOOLS,
      HOME: project.cwd,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'made up',
    });

    test('sends one short prompt, and prints the model and the cost', async ({ onTestFinished }) => {
      const project = newCliProject();
      const api = await startMessagesApi();
      onTestFinished(() => api.close());
      mkdirSync(join(project.cwd, '.raymond'));
      writeFileSync(join(project.cwd, '.raymond', 'config.toml'), '[raymond]\nmodel = "haiku"\n');
      const { checks } = await examine(project, envOf(project, api.url), { claude: path, ask: true });
      expect(checks['signed in']).toMatchObject({ level: 'ok', message: 'yes, with an API key' });
      expect(checks.answers).toMatchObject({
        level: 'ok',
        message: expect.stringMatching(/haiku.* answered in .* s, for \$0\.\d{4}$/),
      });
      expect(api.requests.map(({ tools }) => tools)).toStrictEqual([[]]);
      expect(JSON.stringify(api.requests[0]?.messages).length + (api.requests[0]?.system.length ?? 0)).toBeLessThan(
        4_000,
      );
    });

    test('explains why there is no answer', async ({ onTestFinished }) => {
      const project = newCliProject();
      const api = await startMessagesApi(() => ({ blocks: [], fail: { kind: '401' } }));
      onTestFinished(() => api.close());
      const { code, checks } = await examine(project, envOf(project, api.url), { claude: path, ask: true });
      expect(code).toBe(64);
      expect(checks.answers).toMatchObject({ level: 'error', message: expect.stringContaining('could not log in') });
    });

    test('reports that no user is signed in', async () => {
      const project = newCliProject();
      const { checks } = await examine(project, { PATH: TOOLS, HOME: project.cwd }, { claude: path });
      expect(checks['signed in']).toMatchObject({ level: 'error' });
    });
  });
}
