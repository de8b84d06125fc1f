/** What `workflow.yaml` says is in force, in runs that really happen. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

const SAY = `echo "<result>$PWD|$GREETING|$lang|$RAYMOND_INPUT</result>"`;

function project(manifest: string, script = SAY) {
  const cli = newCliProject();
  writeWorkflow(cli.cwd, 'wf', { 'START.sh': script, 'workflow.yaml': manifest });
  const run = async (...more: string[]) => {
    const { code, out, err } = await cli.raymond('wf', '--json', '--run-id', 'r1', ...more);
    return { code, err, document: out === '' ? null : JSON.parse(out) };
  };
  return { ...cli, run };
}

describe('the manifest of a workflow', () => {
  test('names the run, sets its budget, its variables, its environment and its folder', async () => {
    const { cwd, run, raymond } = project(
      'name: Greeter\ndefault_budget: 3\nworking_directory: sub\nenvironment: { GREETING: "hi ${HOME}" }\nvars: { lang: en }\n',
    );
    mkdirSync(join(cwd, 'sub'));
    const { code, document } = await run('--input', 'x');
    expect(code).toBe(0);
    const status = JSON.parse((await raymond('status', 'r1', '--json')).out);
    expect([status.name, status.budget_usd, document.results.main]).toStrictEqual([
      'Greeter',
      3,
      `${join(cwd, 'sub')}|hi ${process.env.HOME}|en|x`,
    ]);
  });

  test('gives way to the command line', async () => {
    const { cwd, run, raymond } = project(
      'name: Greeter\ndefault_budget: 3\nworking_directory: sub\nvars: { lang: en }\n',
    );
    mkdirSync(join(cwd, 'other'));
    const { document } = await run('--budget', '4', '--name', 'Mine', '--var', 'lang=de', '--dir', 'other');
    const status = JSON.parse((await raymond('-C', 'other', 'status', 'r1', '--json')).out);
    expect([status.name, status.budget_usd, document.results.main]).toStrictEqual([
      'Mine',
      4,
      `${join(cwd, 'other')}||de|`,
    ]);
  });

  test.each([
    [[], 64],
    [['--input', ' '], 64],
    [['--input', 'main'], 0],
  ])('refuses a run without the input that it requires, before anything is on disk: %j', async (args, code) => {
    const { run, raymond } = project('input: { mode: required, label: the branch }\n');
    const result = await run(...args);
    expect(result.code).toBe(code);
    if (code === 0) return;
    expect(result.err).toContain('raymond: this workflow needs an input: the branch');
    expect((await raymond('list', '--json')).out).not.toContain('r1');
  });

  test('refuses a run whose folder does not exist', async () => {
    const { cwd, run } = project('working_directory: sub\n');
    const { code, err } = await run();
    expect([code, err.includes(`is not a folder here: ${join(cwd, 'sub')}`)]).toStrictEqual([64, true]);
  });

  test('warns of what is not set outside, and of an input that nobody takes', async () => {
    const { run } = project('environment: { GREETING: "${NOBODY_SETS_THIS}" }\ninput: { mode: none }\n');
    const { code, document } = await run('--input', 'x');
    expect(code).toBe(0);
    expect(document.warnings.map(({ message }: { message: string }) => message)).toStrictEqual([
      "the workflow's `environment` takes GREETING from NOBODY_SETS_THIS, which is not set: it is empty",
      'the workflow says that it takes no input (`mode: none`)',
    ]);
  });

  test('is linted: mistakes are errors, unknown keys warnings, its variables are known', async () => {
    const { raymond } = project('vars: { lang: en }\nbudget: 3\ninput: { mode: never }\n');
    const { out } = await raymond('lint', 'wf');
    expect(out).toContain('wf/workflow.yaml:2:1');
    expect(out).toContain('wf/workflow.yaml:3:16');
  });
});
