import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configTemplate } from '../../src/config/template.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

function withConfig(text: string): CliProject & { readonly file: string } {
  const project = newCliProject();
  const file = join(project.cwd, '.raymond', 'config.toml');
  mkdirSync(join(project.cwd, '.raymond'));
  writeFileSync(file, text);
  return { ...project, file };
}

describe('raymond --init-config', () => {
  test('writes a file with every option, readable only by its user', async () => {
    const { cwd, raymond } = newCliProject();
    const file = join(cwd, '.raymond', 'config.toml');
    expect(await raymond('--init-config')).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining(`Wrote ${file}\n`),
    });
    expect(readFileSync(file, 'utf8')).toBe(configTemplate());
    expect([statSync(file).mode & 0o777, statSync(join(cwd, '.raymond')).mode & 0o777]).toStrictEqual([0o600, 0o700]);
    expect(await raymond('config')).toMatchObject({ code: 0, out: expect.not.stringMatching(/line \d/) });
  });

  test('does not change an existing file', async () => {
    const { file, raymond } = withConfig('mine');
    expect(await raymond('--init-config')).toMatchObject({
      code: 64,
      out: '',
      err: expect.stringContaining(`There already is a config file: ${file}\n`),
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('does not write through a broken link', async () => {
    const { cwd, raymond } = newCliProject();
    mkdirSync(join(cwd, '.raymond'));
    symlinkSync(join(cwd, 'nowhere'), join(cwd, '.raymond', 'config.toml'));
    expect((await raymond('--init-config')).code).toBe(64);
    expect(statSync(join(cwd, 'nowhere'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('names the file that prevents its folder from being created', async () => {
    const { cwd, raymond } = newCliProject();
    writeFileSync(join(cwd, '.raymond'), '');
    const { code, err } = await raymond('--init-config');
    expect(code).toBe(64);
    expect(err).toContain('.raymond cannot be made: there is a file where a folder should be.');
  });
});

describe('options of the view in the config file', () => {
  const WORKFLOW = 'echo "<result>r</result>"';

  test('are in force for a run, and the command line goes before them', async () => {
    const { cwd, raymond } = withConfig('[raymond]\nquiet = true\n');
    writeFileSync(join(cwd, 'A.sh'), WORKFLOW);
    expect(await raymond('A.sh')).toStrictEqual({ code: 0, out: 'r\n', err: '' });
    expect((await raymond('A.sh', '--no-quiet')).err).toContain('A.sh');
    expect((await raymond('A.sh', '--verbose')).err).toContain('A.sh');
    const { options } = JSON.parse((await raymond('config', '--json')).out);
    expect(options.quiet).toMatchObject({ value: true, source: 'project', line: 2 });
  });

  test('do not become part of the run, so that a resume asks the config of its time', async () => {
    const { cwd, file, raymond } = withConfig('[raymond]\nquiet = true\n');
    writeFileSync(join(cwd, 'A.sh'), 'test -e go && echo "<result>r</result>"');
    await raymond('A.sh', '--run-id', 'r1');
    expect(readFileSync(join(cwd, '.raymond', 'state', 'r1.json'), 'utf8')).not.toContain('quiet');
    writeFileSync(join(cwd, 'go'), '');
    writeFileSync(file, '[raymond]\nverbose = true\n');
    expect((await raymond('resume', 'r1', '--retry')).err).toContain('A.sh → end');
  });

  test('append events to a log file beside .raymond, if the file is trusted', async () => {
    const { cwd, raymond } = withConfig('[raymond]\nlog_file = "events.jsonl"\nquiet = true\n');
    mkdirSync(join(cwd, 'sub'));
    writeFileSync(join(cwd, 'sub', 'A.sh'), WORKFLOW);
    expect(await raymond('-C', 'sub', 'A.sh')).toMatchObject({
      code: 64,
      err: expect.stringContaining(`log_file = "${join(cwd, 'events.jsonl')}" (appends to this file)`),
    });
    expect((await raymond('trust', '--yes')).code).toBe(0);
    expect((await raymond('-C', 'sub', 'A.sh')).code).toBe(0);
    const lines = readFileSync(join(cwd, 'events.jsonl'), 'utf8').trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '').kind).toBe('run_ended');
  });
});

describe('raymond config', () => {
  test('prints that there is no file, and the defaults', async () => {
    const { cwd, raymond } = newCliProject();
    const { code, out } = await raymond('config');
    expect(code).toBe(0);
    expect(out).toContain(
      `project: ${join(cwd, '.raymond', 'config.toml')} (there is none; \`raymond --init-config\` writes one)\n`,
    );
    expect(out).toMatch(/^budget +default +10$/m);
    expect(out).toMatch(/^model +default +\(chosen by Claude Code\)$/m);
    expect(out).not.toContain('vars');
  });

  test('prints the line that each value comes from', async () => {
    const { file, raymond } = withConfig('[vars]\nbudget = "b"\n\n[raymond]\nretries = 5\nbudget = 2.5\n');
    const { out } = await raymond('config');
    expect(out.startsWith(`project: ${file}\n`)).toBe(true);
    expect(out).toMatch(/^budget +project, line 6 +2\.5$/m);
    expect(out).toMatch(/^retries +project, line 5 +5$/m);
    expect(out).toMatch(/^vars\.budget +project, line 2 +"b"$/m);
  });

  test('prints JSON with --json', async () => {
    const { file, raymond } = withConfig('[raymond]\nbudget = 2.5\n[vars]\nissue = "7"\n');
    const document: unknown = JSON.parse((await raymond('config', '--json')).out);
    expect(document).toMatchObject({
      file,
      exists: true,
      options: {
        budget: { value: 2.5, source: 'project', file, line: 2, note: null, trusted: true },
        model: { value: null, source: 'default', file: null, line: null, note: 'chosen by Claude Code' },
      },
      vars: { issue: { value: '7', source: 'project', file, line: 4, note: null, trusted: true } },
    });
  });

  test('prints the problems of the file with their lines', async () => {
    const { file, raymond } = withConfig('[raymond]\nbugdet = 1\nwait = 3\n');
    expect(await raymond('config')).toStrictEqual({
      code: 64,
      out: '',
      err: `raymond: ${file}:2: there is no option \`bugdet\` (did you mean budget?)
${file}:3: \`wait\` must be true or false, not 3
Correct the config file and try again.
`,
    });
  });
});
