import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { formatClaudeVersion } from '../../src/turns/claude/find-claude.ts';
import { attend, CLI } from '../built-command.ts';
import { PINNED } from '../claude-code/pinned.ts';
import { startMessagesApi } from '../messages-api/server.ts';
import { ATTEMPTS, type Attempt } from './attempts.ts';
import { NO_SANDBOX, SANDBOX_PATH, type TestUser, titled, USERS } from './programs.ts';

const TIMEOUT = 180_000;

for (const user of USERS) {
  describe.skipIf(NO_SANDBOX !== null)(titled(`the policy of the sandbox, as ${user.name}`), () => {
    test('holds for a script', { timeout: TIMEOUT }, (context) => attempt(context, user, 'script', null));
    for (const { version, path, isInstalled } of PINNED) {
      const title = `holds for Claude Code ${formatClaudeVersion(version)}`;
      const reason = isInstalled ? null : 'node test/claude-code/install.mjs installs it';
      test.skipIf(!isInstalled)(titled(title, reason), { timeout: TIMEOUT }, (context) =>
        attempt(context, user, 'prompt', path),
      );
    }
  });
}

/** Lets a turn try everything, and compares what has worked and what is left outside with the policy. */
async function attempt(
  context: TestContext,
  user: TestUser,
  kind: 'prompt' | 'script',
  claude: string | null,
): Promise<void> {
  const scene = await setScene(context, user, kind, claude);
  const { code, stdout, stderr } = await scene.run();
  expect({ code, stdout, stderr: code === 0 ? '' : stderr }).toStrictEqual({ code: 0, stdout: 'done\n', stderr: '' });
  const found = Object.fromEntries(
    readFileSync(join(scene.project, 'results.txt'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('\t')),
  );
  const expected = Object.fromEntries(
    ATTEMPTS.map((each, at) => [nameOf(each, at), mayWork(each, kind) ? 'works' : 'fails']),
  );
  expect(found).toStrictEqual(expected);
  expect(scene.isVictimAlive()).toBe(true);
  expect(await findMarkedProcesses('policy/')).toStrictEqual([]);
  // Nothing outside has changed: what was written at home is gone, too.
  expect(readFileSync(join(scene.home, '.bashrc'), 'utf8')).toBe('# mine\n');
  expect(readdirSync(scene.outside)).toStrictEqual(['secret', 'service.sock']);
  expect(existsSync(join(scene.project, '.git', 'hooks', 'post-commit'))).toBe(false);
  expect(
    spawnSync('git', ['-c', 'safe.directory=*', 'log', '--format=%ae %s'], { cwd: scene.project, encoding: 'utf8' })
      .stdout,
  ).toBe('me@example.com made\nme@example.com first\n');
}

const nameOf = ({ row, name }: Attempt, at: number): string => `${at} ${row}: ${name}`;

const mayWork = ({ works, only }: Attempt, kind: 'prompt' | 'script'): boolean =>
  only === undefined || only === kind ? works === true : works !== true;

/** The script that makes all attempts, each in a shell of its own. */
const attemptsScript = (variables: Readonly<Record<string, string>>): string =>
  [
    ...Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`),
    'echo "# theirs" >> "$HOME/.bashrc"',
    ...ATTEMPTS.flatMap((each, at) => [
      `bash <<'END' >/dev/null 2>>attempts.log && result=works || result=fails`,
      each.command,
      'END',
      `printf '%s\\t%s\\n' '${nameOf(each, at)}' "$result" >> results.txt`,
    ]),
    '',
  ].join('\n');

async function setScene(
  { onTestFinished }: TestContext,
  user: TestUser,
  kind: 'prompt' | 'script',
  claude: string | null,
) {
  const root = mkdtempSync(join(tmpdir(), 'raymond-sandbox-'));
  const folder = (...names: readonly string[]): string => {
    mkdirSync(join(root, ...names), { recursive: true });
    return join(root, ...names);
  };
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const [project, home, outside] = [folder('project'), folder('home'), folder('outside')];
  const [writable, readable] = [folder('home', 'writable'), folder('home', 'readable')];
  put('home/.ssh/id_rsa', 'made-up-secret');
  put('home/.bashrc', '# mine\n');
  put('home/.gitconfig', '[user]\n\tname = Me\n\temail = me@example.com\n[http]\n\textraHeader = made-up-secret\n');
  put('home/.claude/projects/-other/x.jsonl', 'made-up-transcript');
  put('home/.claude/settings.json', '{}');
  put('home/readable/file', 'readable');
  put('outside/secret', 'made-up-secret');
  put('project/.raymond/runs/other-run/journal.jsonl', '');
  for (const file of ['.claude/settings.json', '.mcp.json', '.vscode/tasks.json', '.envrc', '.githooks/pre-push'])
    put(`project/${file}`, '{}\n');
  const git = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync('git', args, { cwd: project, env: { PATH: process.env.PATH, HOME: home } });
    if (status !== 0) throw new Error(String(stderr));
  };
  git('init', '-q', '-b', 'main');
  git('config', 'core.hooksPath', '.githooks');
  writeFileSync(join(project, '.gitignore'), '.raymond\nflows\n');
  git('add', '.gitignore');
  git('commit', '-qm', 'first');

  const api = await startMessagesApi();
  const apiPort = new URL(api.url).port;
  const servers: Server[] = [];
  const serve = async (where: string | number): Promise<number> => {
    const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')).listen(where as number, '127.0.0.1');
    servers.push(server);
    await new Promise((done) => server.once('listening', done));
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  };
  const abstract = `raymond-${process.pid}-${user.uid}-${kind}`;
  const [port, namedPort] = [await serve(0), await serve(0)];
  for (const path of [join(project, 'service.sock'), join(outside, 'service.sock'), `\0${abstract}`]) await serve(path);
  const victim = spawn(
    user.prefix[0] ?? 'sleep',
    user.prefix.length === 0 ? ['1000'] : [...user.prefix.slice(1), 'sleep', '1000'],
  );

  const program = copyForUser(root, user, claude);
  const workflow = folder('project', 'flows', 'policy');
  const script = attemptsScript({
    OUTSIDE: outside,
    WRITABLE: writable,
    READABLE: readable,
    WORKFLOW: workflow,
    PORT: String(port),
    NAMED_PORT: String(namedPort),
    API_PORT: apiPort,
    ABSTRACT: abstract,
    VICTIM: String(victim.pid),
    RAYMOND_TASK_FOLDER: join(project, '.raymond/tasks/policy/main'),
    RAYMOND_RUN_FOLDER: join(project, '.raymond/tasks/policy/shared'),
  });
  put('project/attempts.sh', script);
  put('project/flows/policy/workflow.yaml', 'environment:\n  RENAMED: ${GITHUB_TOKEN}\n');
  const order = JSON.stringify({ command: 'bash ./attempts.sh; true', timeout: 150_000 });
  if (kind === 'prompt')
    put('project/flows/policy/1_START.md', `Try.\n\n«tool Bash ${order}»\n«say <result>done</result>»\n`);
  else put('project/flows/policy/1_START.sh', 'bash ./attempts.sh &>/dev/null\necho "<result>done</result>"\n');
  put(
    'config/raymond/config.toml',
    `[raymond]\nsandbox_hosts = ["localhost:${namedPort}"]\nsandbox_write = ["${writable}"]\nsandbox_read = ["${readable}"]\nsandbox_env = ["NPM_TOKEN"]\n`,
  );
  const env = {
    PATH: SANDBOX_PATH,
    HOME: home,
    XDG_CONFIG_HOME: join(root, 'config'),
    XDG_STATE_HOME: join(root, 'state'),
    XDG_RUNTIME_DIR: '/run/user/1',
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'made-up-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    GIT_CEILING_DIRECTORIES: tmpdir(),
    GITHUB_TOKEN: 'made-up-token',
    DATABASE_URL: 'postgres://me:made-up-password@db/x',
    NPM_TOKEN: 'made-up-npm',
    SSH_AUTH_SOCK: join(outside, 'service.sock'),
    DISPLAY: ':0',
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/x',
    PLAIN: 'plain',
  };
  for (const path of [
    root,
    ...readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  ])
    if (!path.startsWith(join(root, 'programs'))) chownSync(path, user.uid, user.uid);
  chmodSync(root, 0o755);

  onTestFinished(async () => {
    victim.kill('SIGKILL');
    for (const server of servers) server.close();
    await api.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  });
  const args = [
    'run',
    'flows/policy',
    '--run-id',
    'policy',
    '--sandbox',
    ...(claude === null ? [] : ['--claude', program.claude]),
  ];
  const [file = process.execPath, ...rest] = [...user.prefix, process.execPath, program.cli, ...args];
  return {
    project,
    home,
    outside,
    isVictimAlive: () => victim.exitCode === null && victim.signalCode === null,
    run: () =>
      attend(spawn(file, rest, { cwd: project, env: { ...env, PWD: project }, stdio: ['ignore', 'pipe', 'pipe'] }))
        .ended,
  };
}

/** The programs where another user can read them. */
function copyForUser(
  root: string,
  { prefix }: TestUser,
  claude: string | null,
): { readonly cli: string; readonly claude: string } {
  if (prefix.length === 0) return { cli: CLI, claude: claude ?? '' };
  const programs = join(root, 'programs');
  const top = dirname(dirname(CLI));
  for (const name of ['dist', 'schemas', 'package.json'])
    cpSync(join(top, name), join(programs, name), { recursive: true });
  symlinkSync(join(top, 'node_modules'), join(programs, 'node_modules'));
  if (claude !== null) {
    mkdirSync(join(programs, 'claude'));
    try {
      linkSync(claude, join(programs, 'claude', 'claude'));
    } catch {
      cpSync(claude, join(programs, 'claude', 'claude'));
    }
    chmodSync(join(programs, 'claude', 'claude'), 0o755);
  }
  return { cli: join(programs, 'dist', 'raymond.js'), claude: join(programs, 'claude', 'claude') };
}
