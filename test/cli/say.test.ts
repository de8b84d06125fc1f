import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readRunEvents } from '../../src/app/run-files.ts';
import { runWorkflow } from '../../src/app/start.ts';
import { runCli } from '../../src/cli/program.ts';
import { storageIn } from '../storage/files/open-files.ts';
import { type CliProject, newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

const WORKS = {
  'START.sh': 'touch waits; until [ -e gate ]; do sleep 0.02; done; echo "<goto>ASK</goto>"',
  'ASK.sh': `echo '<ask next="NEXT">Which way?</ask>'`,
  'NEXT.md': 'Continue.',
};

/** The texts that a run has delivered, and with which turn. */
const heard = async ({ cwd }: CliProject): Promise<readonly unknown[]> => {
  const events = await readRunEvents('r1', storageIn(cwd));
  return events.flatMap((event) => (event.kind === 'said_delivered' ? [[event.turn, event.via]] : []));
};

/** The outcomes of all requests to a run. */
const outcomesIn = (folder: string): readonly unknown[] =>
  readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).outcome);

/** A project with a run r1 that waits for an answer. */
async function waitingProject(): Promise<CliProject> {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'wf', WORKS);
  writeFileSync(join(project.cwd, 'gate'), '');
  writeFileSync(join(project.cwd, 'answers.yaml'), 'answers: { NEXT: <result>over</result> }');
  expect(await project.raymond('wf', '--run-id', 'r1', '--quiet', '--agent', 'replay:answers.yaml')).toMatchObject({
    code: 2,
  });
  return project;
}

describe('say', () => {
  test('to a run that nobody drives is kept, and put before the next prompt, once', async () => {
    const project = await waitingProject();
    const { cwd, raymond } = project;
    const said = await raymond('say', 'r1', '/compact the\u0007 tests\r\nplease\n');
    expect(said).toMatchObject({ code: 0, out: '' });
    expect(said.err).toBe('No process drives the run. main hears it when the run continues: raymond resume r1\n');
    const folder = join(cwd, '.raymond/runs/r1/inbox');
    expect(await raymond('answer', 'r1', 'left', '--resume')).toMatchObject({ code: 0, out: 'over\n' });
    expect(outcomesIn(folder)).toStrictEqual([
      { kind: 'accepted', turn: null },
      { kind: 'accepted', turn: null },
    ]);
    expect(await heard(project)).toStrictEqual([[3, 'prompt']]);
    const [turn = ''] = readdirSync(join(cwd, '.raymond/runs/r1/turns')).filter((name) => name.endsWith('NEXT'));
    expect(readFileSync(join(cwd, '.raymond/runs/r1/turns', turn, 'stdin'), 'utf8')).toBe(
      'A message from the person who follows your work:\n\n/compact the tests\nplease\n\n---\n\nContinue.',
    );
    expect((await raymond('logs', 'r1')).out).toContain('says: /compact the tests\n');
  });

  test('that was journaled and not settled by a Raymond that was killed is settled, and not said again', async () => {
    const project = await waitingProject();
    const { cwd, raymond } = project;
    const folder = join(cwd, '.raymond/runs/r1/inbox');
    await raymond('say', 'r1', 'once');
    const [file = ''] = readdirSync(folder);
    const request = readFileSync(join(folder, file));
    // It waits for a person again, so that the words are in the journal and still to be heard.
    expect(await raymond('resume', 'r1', '--quiet')).toMatchObject({ code: 2 });
    expect(JSON.parse((await raymond('status', 'r1', '--json')).out)).toMatchObject({ agents: [{ said_waiting: 1 }] });
    expect((await raymond('status', 'r1')).out).toContain('1 message waiting');
    writeFileSync(join(folder, file), request);
    writeFileSync(join(folder, 'odd.json'), '{');
    expect(await raymond('answer', 'r1', 'left', '--resume')).toMatchObject({ code: 0 });
    expect(await heard(project)).toStrictEqual([[3, 'prompt']]);
    expect(JSON.parse(readFileSync(join(folder, file), 'utf8'))).toMatchObject({ outcome: { kind: 'accepted' } });
    expect((await raymond('logs', 'r1')).out).toMatch(
      /odd\.json is not a request that Raymond wrote: it is not delivered to anybody/,
    );
  });

  test('to a script waits for the next prompt, and the command says so', async () => {
    const project = newCliProject();
    const { cwd, raymond } = project;
    writeWorkflow(cwd, 'wf', { ...WORKS, 'ASK.sh': 'echo "<goto>NEXT</goto>"' });
    writeFileSync(join(cwd, 'answers.yaml'), 'answers: { NEXT: <result>over</result> }');
    const options = { agent: `replay:${join(cwd, 'answers.yaml')}` };
    const running = await runWorkflow(join(cwd, 'wf'), { cwd, runId: 'r1', options, env: process.env });
    await vi.waitUntil(() => existsSync(join(cwd, 'waits')));
    await running.say('main', 'from the library');
    const { code, err } = await raymond('say', 'r1', 'main', 'hello');
    expect([code, err]).toStrictEqual([
      0,
      'It waits for the next prompt of main of r1, and is put before it: START.sh is a script.\n',
    ]);
    const document = JSON.parse((await raymond('say', 'r1', 'more', '--json')).out);
    expect(document).toMatchObject({ run_id: 'r1', agent: 'main', state: 'START.sh', delivery: 'prompt' });
    writeFileSync(join(cwd, 'gate'), '');
    expect((await running.finished).status).toBe('completed');
    expect(await heard(project)).toStrictEqual([
      [3, 'prompt'],
      [3, 'prompt'],
      [3, 'prompt'],
    ]);
    await expect(running.say('main', '  ')).rejects.toThrow('the text is empty');
  });

  test('reads the text from stdin', async () => {
    const project = await waitingProject();
    const readStdin = async (): Promise<Uint8Array> => new TextEncoder().encode('from stdin\n');
    expect(await runCli(['say', 'r1', '-'], { ...project.terminal(), readStdin })).toBe(0);
    const folder = join(project.cwd, '.raymond/runs/r1/inbox');
    expect(readFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'utf8')).toContain('"text":"from stdin"');
  });

  test.each([
    [['say', 'r1'], 'there is nothing to say'],
    [['say', 'r1', ' \n\u0007'], 'there is nothing to say: the text is empty'],
    [['say', 'r1', 'x'.repeat(200_001)], 'the text has 200001 characters, and 200000 can be said at once'],
    [['say', 'r1', 'worker', 'hello'], 'nothing can be said to worker of r1: there is no agent worker'],
    [['say', 'r1', 'main'], 'main is an agent: there is nothing to say to it'],
    [['say', 'r2', 'hello'], 'r2'],
  ])('refuses %j', async (argv, message) => {
    const { raymond, cwd } = await waitingProject();
    const { code, err } = await raymond(...argv);
    expect(code).toBe(64);
    expect(err).toContain(message);
    expect(existsSync(join(cwd, '.raymond/runs/r1/inbox'))).toBe(false);
  });

  test('names the agents if there are several, and knows who has ended', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', {
      'START.sh': 'echo "<fork next=ASK>ASK</fork> <fork next=ASK>DONE</fork>"',
      'ASK.sh': WORKS['ASK.sh'],
      'DONE.sh': 'echo "<result>done</result>"',
      'NEXT.sh': 'echo "<result>$RAYMOND_INPUT</result>"',
    });
    mkdirSync(join(cwd, 'empty'));
    expect(await raymond('wf', '--run-id', 'r1', '--quiet')).toMatchObject({ code: 2 });
    const { code, err } = await raymond('say', 'r1', 'hello');
    expect([code, err]).toStrictEqual([
      64,
      'raymond: 2 agents of r1 can receive messages\nName one of them: main, main_ask1.\n',
    ]);
    expect((await raymond('say', 'r1', 'main_done2', 'hello')).err).toContain(
      'nothing can be said to main_done2 of r1: main_done2 has ended',
    );
    expect((await raymond('say', 'r1', 'main_ask1', 'hello')).code).toBe(0);
    await raymond('answer', 'r1', 'main', 'a');
    await raymond('answer', 'r1', 'main_ask1', 'b', '--resume');
    expect(await raymond('say', 'r1', 'hello')).toMatchObject({
      code: 64,
      err: expect.stringContaining('the run r1 has ended: nobody is left to talk to'),
    });
    expect((await raymond('logs', 'r1')).out).toContain('main_ask1 has ended without having heard what was said to it');
  });
});

describe('interrupt', () => {
  test.each([
    [['interrupt'], 'there is no run to interrupt'],
    [['interrupt', 'r1', 'main', 'x'], 'no process drives the run r1: no turn of it can be interrupted'],
    [['interrupt', 'r1', 'worker', 'x'], 'nothing can be said to worker of r1: there is no agent worker'],
  ])('refuses %j', async (argv, message) => {
    const { raymond } = await waitingProject();
    const { code, err } = await raymond(...argv);
    expect([code, err.split('\n')[0]]).toStrictEqual([64, `raymond: ${message}`]);
  });

  test('of a script is refused', async () => {
    const { cwd, raymond } = newCliProject();
    const { 'NEXT.md': _, ...scripts } = WORKS;
    writeWorkflow(cwd, 'wf', { ...scripts, 'ASK.sh': 'echo "<result>over</result>"' });
    const running = await runWorkflow(join(cwd, 'wf'), { cwd, runId: 'r1', env: process.env });
    await vi.waitUntil(() => existsSync(join(cwd, 'waits')));
    const { code, err } = await raymond('interrupt', 'r1');
    expect([code, err.split('\n')[0]]).toStrictEqual([
      64,
      'raymond: main of r1 is not interrupted: START.sh is a script, which cannot be interrupted and continue',
    ]);
    writeFileSync(join(cwd, 'gate'), '');
    expect((await running.finished).status).toBe('completed');
  });
});
