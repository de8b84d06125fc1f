import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { type CliProject, type CommandResult, newCliProject } from './cli-project.ts';

/** A stranger's project: its config file names a program that leaves a mark when it is run. */
interface Strange extends CliProject {
  readonly file: string;
  readonly trustFile: string;
  readonly wasRun: () => boolean;
  /** Gives a command in a terminal where each question gets this answer. */
  readonly answering: (answer: boolean, ...argv: readonly string[]) => Promise<CommandResult & { questions: number }>;
}

function strangeProject(more = ''): Strange {
  const project = newCliProject();
  mkdirSync(join(project.cwd, '.raymond'));
  const file = join(project.cwd, '.raymond', 'config.toml');
  const evil = join(project.cwd, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\ntouch ${join(project.cwd, 'harm')}\nexit 1\n`);
  chmodSync(evil, 0o755);
  writeFileSync(file, `[raymond]\nclaude = ${JSON.stringify(evil)}\n${more}`);
  workflow(project.cwd);
  return {
    ...project,
    file,
    trustFile: join(project.configHome, 'raymond', 'trusted.json'),
    wasRun: () => existsSync(join(project.cwd, 'harm')),
    async answering(answer, ...argv) {
      const terminal = project.terminal();
      let questions = 0;
      const ask = async (): Promise<boolean> => {
        questions += 1;
        return answer;
      };
      const code = await runCli(argv, { ...terminal, ask });
      return { code, ...terminal.output(), questions };
    },
  };
}

function workflow(folder: string, script?: string): void {
  mkdirSync(join(folder, 'wf'), { recursive: true });
  if (script === undefined) writeFileSync(join(folder, 'wf', 'START.md'), 'Say <result>done</result>.\n');
  else writeFileSync(join(folder, 'wf', 'START.sh'), `#!/bin/bash\n${script}\n`);
}

const configOf = (project: CliProject, text: string): void => {
  mkdirSync(join(project.cwd, '.raymond'), { recursive: true });
  writeFileSync(join(project.cwd, '.raymond', 'config.toml'), text);
};

const userConfigOf = (project: CliProject, text: string): void => {
  mkdirSync(join(project.configHome, 'raymond'), { recursive: true });
  writeFileSync(join(project.configHome, 'raymond', 'config.toml'), text);
};

const stateOf = (cwd: string, run: string): { readonly options: Readonly<Record<string, unknown>> } =>
  JSON.parse(readFileSync(join(cwd, '.raymond', 'state', `${run}.json`), 'utf8'));

describe("a stranger's config file", () => {
  test('runs nothing where nobody can be asked, and says what to do', async () => {
    const { raymond, file, cwd, wasRun } = strangeProject('dangerously_skip_permissions = true\n');
    expect(await raymond('wf')).toStrictEqual({
      code: 64,
      out: '',
      err: `raymond: ${file} is not trusted, and it asks for more than a project may by itself:
  line 2: claude = "${join(cwd, 'evil.sh')}" (runs this program as Claude Code)
  line 3: dangerously_skip_permissions = true (lets Claude Code do anything without asking)
Read the file. Then trust it as it is with \`raymond trust\`, or remove these lines.
`,
    });
    expect(wasRun()).toBe(false);
    expect(existsSync(join(cwd, '.raymond', 'runs'))).toBe(false);
  });

  test('is asked about once in a terminal', async () => {
    const { answering, raymond, wasRun } = strangeProject();
    expect(await answering(false, 'wf')).toMatchObject({ code: 64, questions: 1 });
    expect(wasRun()).toBe(false);
    const { err, questions } = await answering(true, 'wf');
    expect(questions).toBe(1);
    expect(err).toContain('evil.sh" (runs this program as Claude Code)\n');
    expect(wasRun()).toBe(true);
    expect((await answering(false, 'wf')).questions).toBe(0);
    expect((await raymond('wf')).err).toContain('evil.sh --version failed');
  });

  test('is asked about again after any change', async () => {
    const { raymond, file } = strangeProject();
    expect((await raymond('trust', '--yes')).code).toBe(0);
    expect((await raymond('wf')).err).toContain('--version failed');
    writeFileSync(file, `${readFileSync(file, 'utf8')}# a remark\n`);
    expect((await raymond('wf')).err).toContain('is not trusted');
  });

  test('is not trusted at another path', async () => {
    const { raymond, file, terminal, cwd } = strangeProject();
    await raymond('trust', '--yes');
    const other = newCliProject();
    configOf(other, readFileSync(file, 'utf8'));
    workflow(other.cwd);
    const elsewhere = { ...terminal(), cwd: other.cwd };
    expect(await runCli(['wf'], elsewhere)).toBe(64);
    // A link to the same file is the same file.
    symlinkSync(cwd, join(other.cwd, 'link'));
    const linked = { ...terminal(), cwd: join(other.cwd, 'link') };
    expect(await runCli(['trust'], linked)).toBe(0);
  });

  test('may say what does no harm', async () => {
    const project = newCliProject();
    configOf(project, '[raymond]\npermission_mode = "plan"\ndangerously_skip_permissions = false\nbudget = 3\n');
    workflow(project.cwd, 'echo "<result>fine</result>"');
    expect(await project.raymond('wf', '--quiet')).toMatchObject({ code: 0, out: 'fine\n' });
  });

  test.each(['auto', 'bypassPermissions'])('may not choose the permission mode %s', async (mode) => {
    const project = newCliProject();
    configOf(project, `[raymond]\npermission_mode = "${mode}"\n`);
    workflow(project.cwd, 'echo "<result>fine</result>"');
    expect((await project.raymond('wf')).err).toContain(
      `line 2: permission_mode = "${mode}" (lets Claude Code do more`,
    );
  });

  test('is refused if it names a permission mode that does not exist', async () => {
    const project = newCliProject();
    configOf(project, '[raymond]\npermission_mode = "AcceptEdits"\n');
    workflow(project.cwd, 'echo "<result>fine</result>"');
    expect(await project.raymond('wf')).toMatchObject({
      code: 64,
      err: expect.stringContaining('the permission mode `AcceptEdits` is unknown (did you mean acceptEdits?)'),
    });
  });

  test('does not matter where the command line says otherwise', async () => {
    const project = newCliProject();
    configOf(project, '[raymond]\nclaude = "./evil.sh"\npermission_mode = "auto"\n');
    workflow(project.cwd, 'echo "<result>fine</result>"');
    expect((await project.raymond('wf', '--claude', 'claude', '--permission-mode', 'plan', '--quiet')).code).toBe(0);
    expect((await project.raymond('wf', '--claude', 'claude', '--quiet')).code).toBe(64);
  });

  test('prints nothing that could control the terminal', async () => {
    const project = newCliProject();
    configOf(project, '[raymond]\nclaude = "evil\\u001b]52;c;aGk=\\u0007\\u202e\\u009b2J"\n');
    workflow(project.cwd);
    for (const argv of [['wf'], ['trust'], ['trust', '--yes'], ['trust', '--list'], ['config']]) {
      const { out, err } = await project.raymond(...argv);
      expect(out + err).toContain('evil');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });
});

describe('a run that was started with trust', () => {
  const WAITS = 'test -e go || exit 1; echo "<result>continued</result>"';

  async function failedRun(): Promise<CliProject> {
    const project = newCliProject();
    configOf(project, '[raymond]\npermission_mode = "auto"\n');
    workflow(project.cwd, WAITS);
    await project.raymond('trust', '--yes');
    expect((await project.raymond('wf', '--run-id', 'r1', '--quiet')).code).toBe(1);
    writeFileSync(join(project.cwd, 'go'), '');
    return project;
  }

  test('is resumed although the file has changed elsewhere', async () => {
    const project = await failedRun();
    configOf(project, '[raymond]\npermission_mode = "auto"\nbudget = 2\n');
    expect(await project.raymond('resume', 'r1', '--retry', '--quiet')).toMatchObject({ code: 0, out: 'continued\n' });
  });

  test('is not resumed after the trust was revoked, unless the command line says otherwise', async () => {
    const project = await failedRun();
    expect(await project.raymond('trust', '--revoke')).toMatchObject({ code: 0 });
    const { code, err } = await project.raymond('resume', 'r1', '--retry', '--quiet');
    expect([code, err]).toStrictEqual([64, expect.stringContaining('line 2: permission_mode = "auto"')]);
    expect((await project.raymond('resume', 'r1', '--retry', '--quiet', '--permission-mode', 'plan')).code).toBe(0);
  });

  test('is resumed if it never used what is not trusted', async () => {
    const project = newCliProject();
    workflow(project.cwd, WAITS);
    expect((await project.raymond('wf', '--run-id', 'r1', '--quiet')).code).toBe(1);
    writeFileSync(join(project.cwd, 'go'), '');
    configOf(project, '[raymond]\nclaude = "./evil.sh"\n');
    expect((await project.raymond('resume', 'r1', '--retry', '--quiet')).code).toBe(0);
  });
});

describe('raymond trust', () => {
  test('shows what it would permit, and asks', async () => {
    const { answering, raymond, trustFile } = strangeProject();
    expect(await raymond('trust')).toMatchObject({
      code: 64,
      out: expect.stringContaining('(runs this program as Claude Code)\n'),
      err: expect.stringContaining('`raymond trust --yes`'),
    });
    expect(await answering(false, 'trust')).toMatchObject({ code: 64, questions: 1 });
    expect(existsSync(trustFile)).toBe(false);
    expect(await answering(true, 'trust')).toMatchObject({ code: 0, questions: 1 });
    expect(await answering(true, 'trust')).toMatchObject({ code: 0, questions: 0 });
  });

  test('remembers it in a file of the user, for the eyes of the user only', async () => {
    const { raymond, trustFile, configHome, file } = strangeProject();
    await raymond('trust', '--yes');
    expect(statSync(trustFile).mode & 0o777).toBe(0o600);
    expect(statSync(join(configHome, 'raymond')).mode & 0o777).toBe(0o700);
    expect(JSON.parse(readFileSync(trustFile, 'utf8'))).toMatchObject({ version: 1, files: [{ path: file }] });
  });

  test('lists what is trusted, and takes it back', async () => {
    const { raymond, file } = strangeProject();
    expect((await raymond('trust', '--list')).err).toBe('You have trusted nothing yet.\n');
    await raymond('trust', '--yes');
    expect((await raymond('trust', '--list')).out).toMatch(/config\.toml \(since \d{4}-\d\d-\d\d\)\n {2}claude = "/);
    expect((await raymond('trust', '--revoke', file)).out).toBe(`No longer trusted: ${file}\n`);
    expect((await raymond('wf')).err).toContain('is not trusted');
    expect(await raymond('trust', '--revoke')).toMatchObject({
      code: 64,
      err: expect.stringContaining('you have trusted nothing here'),
    });
  });

  test('has nothing to do where nothing is dangerous', async () => {
    const project = newCliProject();
    expect(await project.raymond('trust')).toMatchObject({ code: 0, out: expect.stringContaining('nothing to trust') });
  });

  test('refuses a damaged list instead of trusting by it', async () => {
    const { raymond, trustFile, configHome } = strangeProject();
    mkdirSync(join(configHome, 'raymond'));
    writeFileSync(trustFile, '{"files":[{"path":3}]}');
    expect(await raymond('wf')).toMatchObject({
      code: 64,
      err: expect.stringContaining(`${trustFile} is damaged: it cannot be told what you have trusted.`),
    });
  });

  test('needs a place to remember it', async () => {
    const { terminal } = strangeProject();
    const homeless = terminal({ PATH: process.env.PATH });
    expect(await runCli(['trust', '--yes'], homeless)).toBe(64);
    expect(homeless.output().err).toContain('HOME is not set');
  });
});

describe("the user's own config file", () => {
  test('needs no trust, and gives way to the project and to the command line', async () => {
    const project = newCliProject();
    userConfigOf(project, '[raymond]\nclaude = "my-claude"\nbudget = 1\nretries = 7\n[vars]\na = "user"\nb = "user"\n');
    configOf(project, '[raymond]\nbudget = 2\nparallel = 2\n[vars]\nb = "project"\n');
    workflow(project.cwd, 'echo "<result>$a $b</result>"');
    expect(await project.raymond('wf', '--run-id', 'r1', '--quiet', '--parallel', '3')).toMatchObject({
      code: 0,
      out: 'user project\n',
    });
    expect(stateOf(project.cwd, 'r1').options).toMatchObject({
      claude: 'my-claude',
      retries: 7,
      budgetMicros: 2_000_000,
      parallel: 3,
    });
  });

  test('is found below HOME if XDG_CONFIG_HOME is not an absolute path', async () => {
    const project = newCliProject();
    mkdirSync(join(project.cwd, '.config', 'raymond'), { recursive: true });
    writeFileSync(join(project.cwd, '.config', 'raymond', 'config.toml'), '[raymond]\nbudget = 4\n');
    for (const configHome of [undefined, '', '.config']) {
      const terminal = project.terminal({ HOME: project.cwd, XDG_CONFIG_HOME: configHome });
      expect(await runCli(['config'], terminal)).toBe(0);
      expect(terminal.output().out).toMatch(/^budget +user, line 2 +4$/m);
    }
  });

  test('has its mistakes told', async () => {
    const project = newCliProject();
    userConfigOf(project, '[raymond]\nbugdet = 1\n');
    expect((await project.raymond('config')).err).toContain(
      `${join(project.configHome, 'raymond', 'config.toml')}:2: there is no option \`bugdet\``,
    );
  });

  test("may skip permissions, which a project's mode takes back", async () => {
    const project = newCliProject();
    userConfigOf(project, '[raymond]\ndangerously_skip_permissions = true\n');
    configOf(project, '[raymond]\npermission_mode = "plan"\n');
    workflow(project.cwd, 'echo "<result>fine</result>"');
    await project.raymond('wf', '--run-id', 'r1', '--quiet');
    expect(stateOf(project.cwd, 'r1').options).toMatchObject({ skipPermissions: false, permissionMode: 'plan' });
    const { options } = JSON.parse((await project.raymond('config', '--json')).out);
    expect(options.dangerously_skip_permissions).toMatchObject({ value: false });
  });

  test.skipIf(process.geteuid?.() !== 0)('is not one of another user (needs root)', async () => {
    const project = newCliProject();
    userConfigOf(project, '[raymond]\nclaude = "evil"\n');
    chownSync(join(project.configHome, 'raymond', 'config.toml'), 65534, 65534);
    expect(await project.raymond('config')).toMatchObject({
      code: 64,
      err: expect.stringContaining('belongs to nobody, so it cannot be your own settings.'),
    });
  });
});

describe('raymond config', () => {
  test('says which file each value comes from, and marks what is not trusted', async () => {
    const project = strangeProject('budget = 2\n');
    userConfigOf(project, '[raymond]\nretries = 7\n');
    const { out } = await project.raymond('config');
    expect(out).toMatch(/^claude +project, line 2, not trusted +"/m);
    expect(out).toMatch(/^budget +project, line 3 +2$/m);
    expect(out).toMatch(/^retries +user, line 2 +7$/m);
    expect(out).toMatch(/^parallel +default +8$/m);
    expect(out).toContain('`raymond trust`');
    const document = JSON.parse((await project.raymond('config', '--json')).out);
    expect(document).toMatchObject({
      trusted: false,
      user_exists: true,
      options: { claude: { trusted: false, source: 'project' }, retries: { trusted: true, source: 'user' } },
    });
    await project.raymond('trust', '--yes');
    expect((await project.raymond('config')).out).not.toContain('trust');
  });
});

describe('with --dir', () => {
  test('the config is that of the folder one stands in', async () => {
    const project = newCliProject();
    configOf(project, '[raymond]\nbudget = 2.5\n[vars]\nplace = "here"\n');
    mkdirSync(join(project.cwd, 'there', '.raymond'), { recursive: true });
    writeFileSync(
      join(project.cwd, 'there', '.raymond', 'config.toml'),
      '[raymond]\nbudget = 99\nclaude = "./evil.sh"\n',
    );
    workflow(project.cwd, 'echo "<result>$place $(basename "$PWD")</result>"');
    expect(await project.raymond('wf', '--dir', 'there', '--run-id', 'r1', '--quiet')).toMatchObject({
      code: 0,
      out: 'here there\n',
    });
    const { options } = stateOf(join(project.cwd, 'there'), 'r1');
    const config = JSON.parse((await project.raymond('config', '--json')).out);
    expect([options.budgetMicros, config.options.budget.value]).toStrictEqual([2_500_000, 2.5]);
    expect(options.claude).toBeNull();
  });
});

describe.skipIf(process.geteuid?.() !== 0)('a folder of another user (needs root)', () => {
  function foreign(...names: readonly string[]): CliProject {
    const project = newCliProject();
    mkdirSync(join(project.cwd, '.raymond'));
    workflow(project.cwd, 'echo "<result>fine</result>"');
    for (const name of names) chownSync(join(project.cwd, name), 65534, 65534);
    return project;
  }

  test.each([
    ['run', 'wf'],
    ['resume', 'last'],
    ['recover', '--resume'],
    ['list'],
    ['status', 'last'],
    ['logs', 'last'],
    ['stop', 'last'],
    ['config'],
    ['lint', 'wf'],
  ])('is refused by %s if it is .raymond', async (...argv) => {
    const project = foreign('.raymond');
    expect(await project.raymond(...argv)).toStrictEqual({
      code: 64,
      out: '',
      err: expect.stringContaining(`raymond: ${join(project.cwd, '.raymond')} belongs to nobody, and you are root.\n`),
    });
    expect((await project.raymond(...argv)).err).toContain(`sudo chown -R 0 '${join(project.cwd, '.raymond')}'`);
  });

  test('is refused as the working directory, also with --dir', async () => {
    const project = foreign('');
    const { code, err } = await project.raymond('wf');
    expect([code, err]).toStrictEqual([64, expect.stringContaining(`${project.cwd} belongs to nobody`)]);
    expect(err).not.toContain('chown');
    const mine = newCliProject();
    workflow(mine.cwd, 'echo "<result>fine</result>"');
    expect((await mine.raymond('wf', '--dir', project.cwd)).err).toContain(`${project.cwd} belongs to nobody`);
    expect(existsSync(join(project.cwd, '.raymond', 'runs'))).toBe(false);
  });

  test('is explained to who used sudo in a folder of their own', async () => {
    const project = foreign('', '.raymond');
    const terminal = project.terminal({ ...process.env, SUDO_UID: '65534' });
    expect(await runCli(['wf'], terminal)).toBe(64);
    expect(terminal.output().err).toContain('the folder is your own: use raymond without sudo.');
  });

  test('can be trusted, until it belongs to somebody else', async () => {
    const project = foreign('', '.raymond');
    expect((await project.raymond('trust')).code).toBe(64);
    expect((await project.raymond('trust', '--yes')).out).toContain(`${project.cwd} belongs to nobody\n`);
    expect(await project.raymond('wf', '--quiet')).toMatchObject({ code: 0, out: 'fine\n' });
    chownSync(join(project.cwd, '.raymond'), 12345, 12345);
    expect((await project.raymond('wf', '--quiet')).err).toContain('belongs to user 12345');
    chownSync(join(project.cwd, '.raymond'), 0, 0);
    expect((await project.raymond('trust', '--revoke')).out).toContain(`No longer trusted: ${project.cwd}\n`);
    expect((await project.raymond('wf', '--quiet')).err).toContain(`${project.cwd} belongs to nobody`);
  });
});
