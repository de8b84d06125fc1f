import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { fingerprintScript } from '../../src/app/record-run.ts';
import type { RunRequest } from '../../src/app/start.ts';
import { type RecordScenarioRequest, recordScenario } from '../../src/testing/record-scenario.ts';
import { openTestProject, type TestProject } from '../scenario/test-project.ts';
import { storageIn } from '../storage/files/open-files.ts';

const windows = process.platform === 'win32';

const REQUEST = {
  realScripts: false,
  output: undefined,
  timeoutMs: 20_000,
  abortSignal: new AbortController().signal,
  env: { HOME: '/home/ada', PATH: process.env.PATH, DEPLOY_TOKEN: 'tok12345678' },
};

/** Runs a workflow with canned answers, as if they were real, in a folder of its own. */
async function ran(
  states: Readonly<Record<string, string>>,
  answers: string,
  request: RunRequest = {},
): Promise<TestProject> {
  const project = openTestProject();
  project.write(Object.fromEntries(Object.entries(states).map(([name, text]) => [`wf/${name}`, text])));
  project.write({ 'answers.yaml': answers });
  const running = await project.start('wf', 'answers.yaml', { runId: 'r1', ...request });
  await running.finished;
  return project;
}

/** Records the run and gives back what the file says. */
async function recorded({ folder }: TestProject, request: Partial<RecordScenarioRequest> = {}) {
  const made = await recordScenario('last', { ...REQUEST, cwd: folder, storage: storageIn(folder), ...request });
  // How long things took is different each time.
  return { ...made, data: parse(made.text, (key, value) => (key === 'seconds' ? undefined : value)) };
}

/** A text alone, or with the time it took beside it. */
const says = (text: string) => expect.toSatisfy((turn) => turn === text || turn.text === text);

const LOOP = `---
allowed_transitions:
  - { tag: goto, target: START.md }
  - { tag: result }
---
Is it done? {{hint}} Answer with <result>done</result>, or with <goto>START.md</goto>.
`;

describe('a recorded run', () => {
  test('has nothing of what people said, nor of an interruption and its question', async () => {
    const project = openTestProject();
    project.write({
      'wf/START.md': 'Begin.',
      'answers.yaml': 'answers: { START: { text: <result>done</result>, seconds: 0.6 } }',
    });
    const running = await project.start('wf', 'answers.yaml', {
      runId: 'r1',
      options: { onAsk: 'wait' },
      env: { ...process.env, RAYMOND_REPLAY: '' },
    });
    const { events } = running;
    await running.say('main', 'Mind the gap');
    for await (const event of events) {
      if (event.kind === 'turn_started' && event.turn === 1) await running.interrupt('main', null);
      if (event.kind === 'asked') await running.answer(event.ask, 'Continue');
    }
    expect(await running.finished).toMatchObject({ status: 'completed', agents: [{ turns: 2, messages: [] }] });
    const { data, testResult } = await recorded(project);
    expect(data).toMatchObject({
      answers: { 'START.md': [{ text: '<result>done</result>' }] },
      expect: { path: ['START.md'] },
    });
    expect(data.asks).toBeUndefined();
    expect(testResult?.differences).toStrictEqual([]);
  });

  test('has the answers and their effects, and replays the same way', async () => {
    const project = await ran(
      { 'START.md': LOOP },
      `answers:
  START.md:
    - { text: Not yet. <goto>START.md</goto>, cost: 0.01, write: { a/b.txt: "one\\n" }, uses: [Read x, Write a/b.txt] }
    - turns: [Perhaps., { fail: overloaded, cost: 0.005 }, { text: <result>done</result>, deny: [Bash ls] }]`,
      { input: 'i', options: { retries: 5, variables: { hint: 'h' } } },
    );
    const { data, testResult, file, answers, notes } = await recorded(project);
    expect(data).toStrictEqual({
      name: 'wf',
      input: 'i',
      vars: { hint: 'h' },
      options: { retries: 5 },
      scripts: 'played',
      answers: {
        'START.md': [
          { text: 'Not yet. <goto>START.md</goto>', write: { 'a/b.txt': 'one\n' }, cost: 0.01 },
          {
            turns: [
              says('Perhaps.'),
              { fail: 'overloaded', cost: 0.005 },
              { text: '<result>done</result>', deny: ['Bash ls'] },
            ],
          },
        ],
      },
      expect: {
        path: ['START.md', 'START.md'],
        results: { main: 'done' },
        cost: 0.015,
        turns: { 'START.md': 4 },
        reminders: { 'START.md': 1 },
        warnings: 0,
        status: 'completed',
        exit: 0,
      },
    });
    expect({ file, answers, notes }).toStrictEqual({ file: join('wf', 'r1.test.yaml'), answers: 4, notes: [] });
    expect(testResult?.differences).toStrictEqual([]);
    expect(readFileSync(join(project.folder, 'wf/r1.test.yaml'), 'utf8')).toContain('\nname: wf\n');
  });

  test('has the answers of evaluators under their own names, and replays the same way', async () => {
    const project = await ran(
      {
        'START.md': `---\nmax_visits: 3\nevaluator: [{ match: TODO, then: { tag: goto, target: START } }, { prompt: JUDGE }]\n---\nAnswer <result>x</result> or <goto>START</goto>.`,
        'JUDGE.md': 'Is {{output}} enough? Answer <confirm></confirm> or <goto>START</goto>.',
      },
      `answers:
  START.md: ["TODO <result>a</result>", <result>b</result>, <result>c</result>]
  JUDGE.md:
    - { text: No. <goto>START</goto>, cost: 0.01 }
    - turns: [Hm., <confirm></confirm>]`,
    );
    const { data, testResult } = await recorded(project);
    expect(data.answers).toStrictEqual({
      'START.md': [says('TODO <result>a</result>'), says('<result>b</result>'), says('<result>c</result>')],
      'JUDGE.md': [
        { text: 'No. <goto>START</goto>', cost: 0.01 },
        { turns: [says('Hm.'), says('<confirm></confirm>')] },
      ],
    });
    expect(data.expect).toMatchObject({
      path: ['START.md', 'START.md', 'START.md'],
      turns: { 'JUDGE.md': 3 },
      reminders: { 'JUDGE.md': 1 },
    });
    expect(testResult?.differences).toStrictEqual([]);
  });

  test('contains no template, with any text', async () => {
    const project = await ran(
      { 'START.md': 'Go.' },
      'answers: { START: { text: "<result>\\\\{{hint}} and \\\\\\\\{{ x }}</result>", write: { "./\\\\{{a}}.txt": "{{state}}" } } }',
    );
    const { data, testResult } = await recorded(project);
    expect(data.answers['START.md']).toStrictEqual([
      { text: '<result>\\{{hint}} and \\\\{{ x }}</result>', write: { './\\{{a}}.txt': 'START.md' } },
    ]);
    expect(data.expect.results).toStrictEqual({ main: '{{hint}} and \\{{ x }}' });
    expect(testResult?.differences).toStrictEqual([]);
  });

  test('has an answer for each agent if several were in a state', async () => {
    const project = await ran(
      { 'START.md': 'Fork.', 'W.md': 'Work on {{n}}.', 'END.md': 'End.' },
      `answers:
  START.md: '<fork n="1" next="END">W</fork><fork n="2" next="END">W</fork>'
  W.md: { text: "<result>{{n}}</result>", cost: 0.01 }
  END.md: <result>e</result>`,
    );
    const { data, testResult } = await recorded(project);
    expect(data.answers['W.md']).toStrictEqual([
      { when: { agent_id: 'main_w1' }, visits: [{ text: '<result>1</result>', cost: 0.01 }] },
      { when: { agent_id: 'main_w2' }, visits: [{ text: '<result>2</result>', cost: 0.01 }] },
    ]);
    expect(data.expect).toMatchObject({
      path: { main: ['START.md', 'END.md'], main_w1: ['W.md'], main_w2: ['W.md'] },
      turns: 4,
      reminders: 0,
      warnings: 0,
    });
    expect(testResult?.differences).toStrictEqual([]);
  });

  test.skipIf(windows)('replays its scripts, or leaves them to be executed (not on Windows)', async () => {
    const states = {
      'START.sh': 'pwd; mkdir -p sub/dir; echo aside >&2; echo "<reset cd=\\"$PWD/sub/dir\\">END</reset>"',
      'END.sh': 'basename "$PWD"; echo broken >&2; exit 3',
    };
    const project = await ran(states, 'answers: {}');
    const played = await recorded(project);
    expect(played.data.answers).toMatchObject({
      'START.sh': [{ text: '.\n<reset cd="sub/dir">END</reset>\n', stderr: 'aside\n', write: { 'sub/dir/.keep': '' } }],
      'END.sh': [{ text: 'dir\n', stderr: 'broken\n', exit: 3 }],
    });
    expect(played.data.expect).toMatchObject({ status: 'failed', exit: 1, path: ['START.sh', 'END.sh'] });
    expect(played.testResult?.differences).toStrictEqual([]);
    expect(played.data.recorded_scripts).toStrictEqual({
      'START.sh': fingerprintScript(states['START.sh']),
      'END.sh': fingerprintScript(states['END.sh']),
    });
    expect(played.testResult?.warnings.join()).not.toContain('has changed');
    const real = await recorded(project, { realScripts: true, output: 'wf/real.test.yaml' });
    expect(real.data).toMatchObject({ scripts: 'real', answers: {} });
    expect(real.data).not.toHaveProperty('recorded_scripts');
    expect(real.testResult?.differences).toStrictEqual([]);
  });

  test('fails if an answer that caused a reminder is accepted', async () => {
    const start = (...tags: readonly string[]) =>
      `---\nallowed_transitions: [${tags.join()}]\n---\nSay <goto>END.md</goto>, or <result>no</result>.`;
    const onwards = '{ tag: goto, target: END.md }';
    const project = await ran(
      { 'START.md': start(onwards, '{ tag: result }'), 'END.md': 'Say <result>r</result>.' },
      'answers: { START: { turns: [Hm., <goto>END</goto>] }, END: <result>r</result> }',
    );
    const { data, testResult } = await recorded(project, { output: 'wf/a.test.yaml' });
    expect(data.expect).toMatchObject({ turns: { 'START.md': 2 }, reminders: { 'START.md': 1 } });
    expect(testResult?.differences).toStrictEqual([]);
    // With one way left, nothing has to be said.
    project.write({ 'wf/START.md': start(onwards) });
    const again = await recorded(project, { output: 'wf/b.test.yaml' });
    expect(again.testResult?.differences.map(({ what }) => what)).toStrictEqual([
      'the number of turns of START.md',
      'the number of reminders of START.md',
    ]);
  });

  test('does not expect the absence of warnings if there were some', async () => {
    const project = await ran({ 'START.md': LOOP }, 'answers: { START: <result>r</result> }');
    const { data, testResult } = await recorded(project);
    expect(data.expect).not.toHaveProperty('warnings');
    expect(testResult).toMatchObject({ differences: [], warnings: [`${join('wf', 'START.md')}: {{hint}} is not set`] });
  });

  test('replays without the failure at the same cost, if it failed and was resumed', async () => {
    const project = await ran({ 'START.md': LOOP }, 'answers: { START: { fail: billing, cost: 0.01 } }');
    project.write({ 'answers.yaml': 'answers: { START: { text: <result>r</result>, cost: 0.02 } }' });
    await (await project.resume('r1')).finished;
    const { data, testResult } = await recorded(project);
    expect(data.answers['START.md']).toStrictEqual([{ text: '<result>r</result>', cost: 0.03 }]);
    expect(testResult?.differences).toStrictEqual([]);
  });

  test('keeps a final failure, and the output before it', async () => {
    const project = await ran({ 'START.md': LOOP }, 'answers: { START: { text: Half., fail: refusal } }');
    const { data, testResult } = await recorded(project);
    expect(data.answers['START.md']).toStrictEqual([{ text: 'Half.', fail: 'refusal' }]);
    expect(data.expect).toMatchObject({ status: 'failed', exit: 1 });
    expect(testResult?.differences).toStrictEqual([]);
  });

  test('keeps a usage limit with its duration', async () => {
    const answers = 'answers: { START: { turns: [{ fail: usage_limit, resets_in: 0.4 }, <result>r</result>] } }';
    const { data, testResult } = await recorded(await ran({ 'START.md': LOOP }, answers));
    expect(data.answers['START.md']).toStrictEqual([
      { turns: [{ fail: 'usage_limit', resets_in: 0 }, says('<result>r</result>')] },
    ]);
    expect(testResult?.differences).toStrictEqual([]);
  });
});

describe('a recording contains no', () => {
  test('path of the machine, and no secret', async () => {
    const project = openTestProject();
    const { folder } = project;
    project.write({
      'wf/START.md': LOOP,
      'answers.yaml': `answers:
  START.md:
    text: |
      See ${folder}/out.txt, /home/ada/x and /home/grace/y; the token is tok12345678.
      <result>${folder}/out.txt, sk-ant-api03-abcdefghijklmnop1234, run {{workflow_id}}</result>
    write: { out.txt: "in ${folder}: tok12345678\\n" }`,
    });
    const running = await project.start('wf', 'answers.yaml', {
      runId: 'secret-run',
      input: `in ${folder}`,
      options: { agent: `replay:${folder}/answers.yaml`, variables: { token: 'abc', where: folder } },
    });
    await running.finished;
    const { data, text, testResult } = await recorded(project);
    for (const secret of [folder, 'tok12345678', 'sk-ant', 'ada', 'grace', 'secret-run'])
      expect(text).not.toContain(secret);
    expect(data).toMatchObject({
      input: 'in .',
      vars: { token: '[masked]', where: '.' },
      answers: { 'START.md': [{ write: { 'out.txt': 'in .: [masked]\n' } }] },
      expect: { results: { main: 'out.txt, [masked], run test' } },
    });
    expect(testResult?.differences).toStrictEqual([]);
  });
});

describe('recording is refused for', () => {
  test('a run without kept files', async () => {
    const kept = openTestProject();
    kept.write({ 'wf/START.md': 'Go.', 'a.yaml': 'answers: { START: <result>r</result> }' });
    const running = await kept.start('wf', 'a.yaml', {
      runId: 'r1',
      options: { agent: `replay:${kept.folder}/a.yaml`, debug: false },
    });
    await running.finished;
    await expect(recorded(kept)).rejects.toMatchObject({
      message: 'The run r1 cannot be recorded: the output of START.md was not kept.',
      exitCode: 64,
      hint: 'It was run with --no-debug, which keeps nothing. Run the workflow again without it, and record that run.',
    });
  });

  test('an unknown run, and an existing file', async () => {
    const project = await ran({ 'START.md': 'Go.' }, 'answers: { START: <result>r</result> }');
    await expect(
      recordScenario('nobody', { ...REQUEST, cwd: project.folder, storage: storageIn(project.folder) }),
    ).rejects.toThrow('no such run: nobody');
    writeFileSync(join(project.folder, 'x.yaml'), 'mine');
    await expect(recorded(project, { output: 'x.yaml' })).rejects.toMatchObject({
      message: 'x.yaml already exists',
      exitCode: 64,
    });
    expect(project.read('x.yaml')).toBe('mine');
    await expect(recorded(project, { output: 'no/x.yaml' })).rejects.toThrow('no/x.yaml cannot be written (ENOENT)');
  });

  test('a running run', async () => {
    const project = openTestProject();
    project.write({ 'wf/START.md': 'Go.', 'a.yaml': 'answers: { START: { fail: usage_limit, resets_in: 3600 } }' });
    const running = await project.start('wf', 'a.yaml', { runId: 'r1' });
    await expect(recorded(project)).rejects.toMatchObject({
      message: 'The run r1 is not over, so it cannot be recorded: it is running.',
      exitCode: 64,
    });
    running.kill();
    await running.finished;
  });
});

test('a recording elsewhere names its workflow, and none is written if it is only printed', async () => {
  const project = await ran({ 'START.md': 'Go.' }, 'answers: { START: <result>r</result> }');
  project.write({ 'wf/tests/x': '', 'far/x': '' });
  const made = async (output: string) => (await recorded(project, { output })).data.workflow;
  expect(await made('wf/tests/a.test.yaml')).toBeUndefined();
  expect(await made('far/a.test.yaml')).toBe(join('..', 'wf'));
  const shown = await recorded(project, { output: '-' });
  expect(shown).toMatchObject({ file: null, data: { workflow: 'wf' } });
  expect(shown.testResult?.differences).toStrictEqual([]);
});

test('a summary of a conversation and the files that tags name are recorded, and replay the same way', async () => {
  const project = await ran(
    {
      'START.sh': `printf '{"name":"a"}\\n{"name":"b"}\\n' > items.jsonl; echo said > said.txt
echo '<fork-each in="items.jsonl">W</fork-each><join>SUM</join>'`,
      'W.sh': `echo "<goto input-file='said.txt'>W2</goto>"`,
      'W2.sh': 'echo "<result>$name $RAYMOND_INPUT</result>"',
      'SUM.md': '{{results}}',
      'MORE.md': 'More.',
      'END.md': 'End.',
    },
    `answers:
  SUM: { text: <compact>MORE</compact>, cost: 0.01 }
  MORE: { text: <compact>END</compact>, cost: 0.02, compact: { cost: 0.04 } }
  END: { text: <result>over</result>, compact: { fail: true } }`,
  );
  const { data, testResult, notes } = await recorded(project);
  expect(notes).toStrictEqual([]);
  expect(data.answers['START.sh'][0].write).toStrictEqual({ 'items.jsonl': '{"name":"a"}\n{"name":"b"}\n' });
  expect(data.answers['W.sh'][0].visits[0].write).toStrictEqual({ 'said.txt': 'said\n' });
  expect(data.answers['MORE.md'][0]).toMatchObject({ cost: 0.02, compact: { cost: 0.04 } });
  expect(data.answers['END.md'][0]).toMatchObject({ text: '<result>over</result>', compact: { fail: true } });
  expect(data.expect).toMatchObject({ cost: 0.07, results: { main: 'over', main_w1: 'a said' } });
  expect(testResult?.differences).toStrictEqual([]);
});
