import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { resumeRun } from '../../src/app/resume.ts';
import { runCli } from '../../src/cli/program.ts';
import { newCliProject } from '../cli/cli-project.ts';
import { appears, startOwnerIn, waiting, writeWorkflow } from '../cli/owners.ts';

/*
 * A stranger's clone holds a run whose process seems to have died, with programs of the stranger's in its options. Nobody but a person who has
 * seen them may resume it.
 */

/** A run that a user has started with a program to notify, and whose process was killed. */
async function newCrashedRun(...flags: readonly string[]) {
  const project = newCliProject();
  const trace = join(project.configHome, 'trace');
  writeWorkflow(project.cwd, 'wf', { 'START.sh': waiting('<result>r</result>') });
  const owner = startOwnerIn(project, 'wf', '--run-id', 'r1', '--notify', `touch ${trace}`, ...flags);
  await appears(project.cwd, 'here');
  owner.signal('SIGKILL');
  await owner.exited;
  writeFileSync(join(project.cwd, 'go'), '');
  return { project, trace };
}

/** The settings of somebody else, who has no key yet. */
function newStranger(): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-stranger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { ...process.env, XDG_CONFIG_HOME: folder };
}

type Asked = (question: string) => Promise<boolean>;

async function raymondAs(
  project: ReturnType<typeof newCliProject>,
  env: NodeJS.ProcessEnv,
  argv: readonly string[],
  ask?: Asked,
) {
  const terminal = { ...project.terminal(env), ...(ask !== undefined && { ask }) };
  const code = await runCli(argv, terminal);
  return { code, ...terminal.output() };
}

const STORED = /The run r1 does not carry your signature|You have not started the run r1 with what it has stored/;

test('recover resumes the runs of this user, with the programs that they have stored', async () => {
  const { project, trace } = await newCrashedRun();
  expect(await project.raymond('recover', '--resume')).toMatchObject({ code: 0 });
  expect(existsSync(trace)).toBe(true);
});

test('recover leaves a run alone that somebody else has started, and no program of it starts', async () => {
  const { project, trace } = await newCrashedRun();
  const stranger = newStranger();
  for (const argv of [
    ['recover', '--resume'],
    ['recover', '--resume', '--retry'],
    ['resume', 'r1'],
  ]) {
    const { code, err } = await raymondAs(project, stranger, argv);
    expect([code, err]).toStrictEqual([64, expect.stringMatching(STORED)]);
  }
  await expect(resumeRun('r1', { cwd: project.cwd, env: stranger })).rejects.toThrow(STORED);
  await expect(resumeRun('r1', { cwd: project.cwd, env: { PATH: process.env.PATH } })).rejects.toThrow(STORED);
  expect(existsSync(trace)).toBe(false);
});

test('recover leaves a run alone whose files were copied from another project of this user', async () => {
  const { project, trace } = await newCrashedRun();
  const copy = newCliProject();
  cpSync(project.cwd, copy.cwd, { recursive: true });
  const { code, err } = await raymondAs({ ...copy }, { ...process.env, XDG_CONFIG_HOME: project.configHome }, [
    'recover',
    '--resume',
  ]);
  expect([code, err]).toStrictEqual([64, expect.stringMatching(STORED)]);
  expect(existsSync(trace)).toBe(false);
});

test('who is shown what a run has stored can accept it, and recoveries include the run from then on', async () => {
  const { project, trace } = await newCrashedRun('--dangerously-skip-permissions');
  const stranger = newStranger();
  const questions: string[] = [];
  const answer =
    (yes: boolean): Asked =>
    async (question) => {
      questions.push(question);
      return yes;
    };
  const refused = await raymondAs(project, stranger, ['resume', 'r1'], answer(false));
  expect(refused.code).toBe(64);
  expect(refused.err).toMatch(
    /stored:\n {2}notify = "touch .*" \(.*\)\n {2}dangerously_skip_permissions = true \(lets .*\)\n/,
  );
  expect(existsSync(trace)).toBe(false);
  expect(await raymondAs(project, stranger, ['resume', 'r1'], answer(true))).toMatchObject({ code: 0 });
  expect([existsSync(trace), questions]).toStrictEqual([true, Array(2).fill('Resume it with these options?')]);
});

test('options that are set now, or in a config file of the user, need no question', async () => {
  const { project, trace } = await newCrashedRun();
  const stranger = newStranger();
  const given = await raymondAs(project, stranger, ['resume', 'r1', '--notify', `touch ${trace}2`]);
  expect([given.code, existsSync(trace), existsSync(`${trace}2`)]).toStrictEqual([0, false, true]);
});
