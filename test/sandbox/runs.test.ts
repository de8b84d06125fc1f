import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { endMarked } from '../../src/process/end.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { findSandbox } from '../../src/process/sandbox.ts';
import { startCommand, until } from '../built-command.ts';
import { NO_SANDBOX, SANDBOX_PATH, titled } from './programs.ts';

/** Runs a workflow of scripts by the built command, in a project with this home. */
function project(context: TestContext, states: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'raymond-boxed-'));
  for (const name of ['project', 'home', 'flow']) mkdirSync(join(root, name));
  for (const [name, text] of Object.entries(states)) writeFileSync(join(root, 'flow', name), text);
  const env = { PATH: SANDBOX_PATH, HOME: join(root, 'home'), GIT_CEILING_DIRECTORIES: root };
  const cwd = join(root, 'project');
  context.onTestFinished(async () => {
    const left = await findMarkedProcesses('boxed/');
    if (left.length > 0) await endMarked('boxed/', { graceMs: 0 });
    rmSync(root, { recursive: true, force: true });
    expect(left).toStrictEqual([]);
  });
  return {
    cwd,
    home: env.HOME,
    root,
    run: (args: readonly string[] = [], more: NodeJS.ProcessEnv = {}) =>
      startCommand(['run', join(root, 'flow'), '--run-id', 'boxed', '--sandbox', ...args], cwd, { ...env, ...more }),
    resume: (...args: readonly string[]) => startCommand(['resume', 'boxed', ...args], cwd, env),
    stop: (...args: readonly string[]) => startCommand(['stop', 'boxed', ...args], cwd, env).ended,
  };
}

describe.skipIf(NO_SANDBOX !== null)(titled('a sandboxed run of scripts'), () => {
  test('survives kill -9: its script runs once, and nothing is left', async (context) => {
    const { cwd, run, resume } = project(context, {
      '1_START.sh': 'echo once >> ran.txt\nwhile [ ! -e go ]; do sleep 0.05; done\necho "<result>done</result>"\n',
    });
    const started = run();
    await until(() => existsSync(join(cwd, 'ran.txt')), 'the script');
    await started.kill();
    const resumed = resume();
    writeFileSync(join(cwd, 'go'), '');
    expect(await resumed.ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(readFileSync(join(cwd, 'ran.txt'), 'utf8')).toBe('once\n');
  });

  test('ends at once with stop --now, with a child in a session of its own', async (context) => {
    const { cwd, run, stop } = project(context, {
      '1_START.sh': 'setsid sleep 1000 &\ntrap "" TERM\necho > ran.txt\nsleep 1000\n',
    });
    const started = run();
    await until(() => existsSync(join(cwd, 'ran.txt')), 'the script');
    expect((await stop('--now')).code).toBe(0);
    await started.ended;
    expect(await findMarkedProcesses('boxed/')).toStrictEqual([]);
  });

  test('lets a script clean up when it is stopped, and takes its answer', async (context) => {
    const { cwd, run, stop } = project(context, {
      '1_START.sh':
        'trap \'echo "<result>cleaned up</result>"; exit 0\' TERM\necho > ran.txt\nwhile :; do sleep 0.05; done\n',
    });
    const started = run();
    await until(() => existsSync(join(cwd, 'ran.txt')), 'the script');
    await stop('--now');
    expect(await started.ended).toMatchObject({ stdout: 'cleaned up\n' });
  });

  test('keeps kill -9 -1 inside', async (context) => {
    const { run } = project(context, {
      '1_START.sh': 'grep -qa raymond /proc/1/cmdline || exit 3\n(kill -9 -1)\necho never\n',
    });
    const { code, stderr } = await run().ended;
    expect([code, stderr]).toStrictEqual([1, expect.stringContaining('exit code 137')]);
  });

  test('follows no link that an earlier turn has made', async (context) => {
    const { home, run } = project(context, {
      '1_START.sh':
        'ln -s "$HOME/.ssh" .idea; ln -s "$HOME/.ssh" .vscode; printf "gitdir: %s\\n" "$HOME/other/.git" > .git\necho "<goto>2_LATER</goto>"\n',
      '2_LATER.sh':
        'for file in .idea/id_rsa .vscode/id_rsa "$HOME/.ssh/id_rsa" "$HOME/other/.git/config"; do cat "$file" && leak=1; done\necho "<result>leak=$leak</result>"\n',
    });
    mkdirSync(join(home, '.ssh'));
    writeFileSync(join(home, '.ssh/id_rsa'), 'key');
    for (const name of ['objects', 'refs']) mkdirSync(join(home, 'other/.git', name), { recursive: true });
    writeFileSync(join(home, 'other/.git/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(home, 'other/.git/config'), '');
    expect(await run().ended).toMatchObject({ code: 0, stdout: 'leak=\n' });
  });

  test('tells which host was refused, and which flag permits it', async (context) => {
    const { run } = project(context, {
      '1_START.sh': 'curl -sS --max-time 5 https://example.com/\necho "<result>done</result>"\n',
    });
    const { stdout, stderr } = await run(['--sandbox-host', 'localhost:9']).ended;
    expect([stdout, stderr]).toStrictEqual(['done\n', expect.stringContaining('--sandbox-host example.com')]);
  });

  test('sandboxes the states that ask for it, and their evaluators', async (context) => {
    const outside = 'cat "$HOME/secret" >/dev/null 2>&1 && echo open || echo boxed';
    const { cwd, home, root } = project(context, {});
    writeFileSync(join(home, 'secret'), '');
    const flow = `states:
  START:
    sh: |
      echo "plain $(${outside})" >> log.txt
      echo "<goto>BOXED</goto>"
  BOXED:
    sandbox: true
    evaluator: { script: JUDGE.sh }
    sh: |
      echo "state $(${outside})" >> log.txt
      echo "<result>done</result>"
  JUDGE:
    sh: |
      echo "evaluator $(${outside})" >> log.txt
`;
    writeFileSync(join(root, 'flow.yaml'), flow);
    const env = { PATH: SANDBOX_PATH, HOME: home, GIT_CEILING_DIRECTORIES: root };
    const { code, stderr } = await startCommand(['run', join(root, 'flow.yaml'), '--run-id', 'boxed'], cwd, env).ended;
    expect([code, code === 0 ? '' : stderr]).toStrictEqual([0, '']);
    expect(readFileSync(join(cwd, 'log.txt'), 'utf8')).toBe('plain open\nstate boxed\nevaluator boxed\n');
  });
});

describe('a sandbox that cannot be', () => {
  const states = { '1_START.sh': 'echo > ran.txt\necho "<result>done</result>"\n' };

  test.for([
    ['is missing', null, 'bubblewrap (`bwrap`) is not on the PATH', 'apt-get install bubblewrap socat'],
    ['is refused by AppArmor', 'bwrap: setting up uid map: Permission denied', 'AppArmor', 'docs/sandbox.md'],
    [
      'is refused by AppArmor in its network',
      'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
      'AppArmor',
      'docs/sandbox.md',
    ],
    ['has no namespaces', 'bwrap: No permissions to creating new namespace', 'no namespaces', 'sysctl'],
    [
      'has too few namespaces',
      'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_user_namespaces exceeded (ENOSPC)',
      'no namespaces',
      'sysctl',
    ],
    [
      'is in a container',
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      'container',
      'without --sandbox',
    ],
    ['fails otherwise', 'bwrap: something else', 'something else', 'bwrap --version'],
  ] as const)('which %s refuses the run before anything runs', async ([, said, reason, remedy], context) => {
    const { cwd, root, run } = project(context, states);
    const tools = join(root, 'tools');
    mkdirSync(tools);
    const put = (name: string, text: string): void => {
      writeFileSync(join(tools, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(tools, name), 0o755);
    };
    if (said !== null) put('bwrap', `echo "${said}" >&2\nexit 1`);
    put('socat', ':');
    symlinkSync('/bin/sh', join(tools, 'sh'));
    const { code, stderr } = await run([], { PATH: tools }).ended;
    expect([code, stderr]).toStrictEqual([64, expect.stringContaining(reason)]);
    expect(stderr).toContain(remedy);
    expect(existsSync(join(cwd, 'ran.txt'))).toBe(false);
  });

  test('on macOS refuses the run', async () => {
    await expect(findSandbox({ PATH: SANDBOX_PATH }, 'darwin')).rejects.toThrow('it needs Linux');
  });

  test.skipIf(NO_SANDBOX !== null).for([
    ['a folder that does not exist', 'sandbox_read = ["/nowhere/at/all"]', [], '`sandbox_read` names /nowhere/at/all'],
    ['a host that is none', 'sandbox_hosts = ["https://x"]', [], '`sandbox_hosts` must be a list of hosts such as'],
    ['a flag with a host that is none', '', ['--sandbox-host', 'localhost'], '--sandbox-host must be'],
  ] as const)('with %s refuses the run', async ([, config, args, message], context) => {
    const { home, run } = project(context, states);
    mkdirSync(join(home, 'raymond'));
    writeFileSync(join(home, 'raymond/config.toml'), `[raymond]\n${config}\n`);
    const { code, stderr } = await run(args, { XDG_CONFIG_HOME: home }).ended;
    expect([code, stderr]).toStrictEqual([64, expect.stringContaining(message)]);
  });

  test.skipIf(NO_SANDBOX !== null)('in the home folder refuses the run', async (context) => {
    const { root, run } = project(context, states);
    const { code, stderr } = await run([], { HOME: join(root, 'project') }).ended;
    expect([code, stderr]).toStrictEqual([64, expect.stringContaining('your home folder is in it')]);
  });

  test.skipIf(NO_SANDBOX !== null)('without a host that the workflow needs names the flag', async (context) => {
    const { run } = project(context, { ...states, 'workflow.yaml': 'hosts: [registry.npmjs.org]\n' });
    const { code, stderr } = await run().ended;
    expect([code, stderr]).toStrictEqual([64, expect.stringContaining('--sandbox-host registry.npmjs.org')]);
    expect((await run(['--sandbox-host', '*.npmjs.org']).ended).code).toBe(0);
  });
});
