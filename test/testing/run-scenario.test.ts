import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resumeRun } from '../../src/app/resume.ts';
import { folderWith, REQUEST, resultsIn, warnedBy, wrongWith } from './rig.ts';

const LOOP = `---
allowed_transitions:
  - { tag: goto, target: START.md }
  - { tag: result }
---
Is it done? {{hint}} Answer with <result>done</result>, or with <goto>START.md</goto>.
`;

const windows = process.platform === 'win32';

describe('a scenario', () => {
  test('passes if it runs as expected', async () => {
    const scenario = `
vars: { hint: Look. }
files: { notes/a.txt: at first }
answers:
  START.md:
    - { text: Not yet. <goto>START.md</goto>, cost: 0.01, write: { notes/b.txt: "b\\n" } }
    - turns: [Perhaps., { text: <result>done</result>, cost: 0.02 }]
expect:
  path: [START, START]
  result: done
  results: { main: { matches: ^done$ } }
  prompts: { START: [{ contains: Look. }, { lacks: "{{" }] }
  files: { notes/a.txt: at first, notes/b.txt: "b\\n", c.txt: { absent: true } }
  cost: { START: 0.03 }
  turns: 3
  reminders: 1
  status: completed
  exit: 0
`;
    expect(await wrongWith({ 'START.md': LOOP }, scenario)).toStrictEqual([]);
  });

  test.each<[string, string, readonly string[]]>([
    ['path: [START]', 'the path', ['5:3 the path of main: ["START.md"], not ["START.md","START.md"]']],
    ['path: { nobody: [START] }', 'an agent', ['5:11 nobody: there is no agent nobody: there is only main']],
    ['path: { mian: [START] }', 'an agent', ['5:11 mian: there is no agent mian (did you mean main?)']],
    ['result: dine', 'the result', ['5:3 the result of main: "dine", not "done"']],
    [
      'result: { contains: [d, x], lacks: o, matches: ^n }',
      'parts of the result',
      [
        '5:3 the result of main: contains x, not "done"',
        '5:3 the result of main: lacks o, not "done"',
        '5:3 the result of main: matches ^n, not "done"',
      ],
    ],
    [
      'prompts: { START: [{ contains: Is it }, { contains: no }] }',
      'the prompt of a visit',
      [
        '5:14 the prompt of START.md, visit 2,: contains no, not "Is it done? {{hint}} Answer with <result>done</result>, or with <goto>START.md</goto>.\\n"',
      ],
    ],
    ['prompts: { START: [a] }', 'visits', ['5:14 the number of visits to START.md: 1, not 2']],
    ['prompts: { OTHER: a }', 'a visit', ['5:14 the prompt of OTHER.md: OTHER.md is never entered']],
    ['files: { a.txt: b }', 'what a file holds', ['5:12 the file a.txt: "b", not "a"']],
    ['files: { a.txt: { absent: true } }', 'a file', ['5:12 the file a.txt: the file a.txt should not be there']],
    ['files: { b.txt: b }', 'no file', ['5:12 the file b.txt: the file b.txt is not there']],
    ['cost: 0.02', 'the cost', ['5:3 the cost: 0.02, not 0.01']],
    ['cost: { OTHER: 0.01 }', 'the cost of a state', ['5:11 the cost of OTHER.md: 0.01, not 0']],
    ['turns: { START: 3 }', 'the turns', ['5:12 the number of turns of START.md: 3, not 2']],
    ['reminders: 1', 'the reminders', ['5:3 the number of reminders: 1, not 0']],
    ['status: failed', 'the status', ['5:3 the status of the run: "failed", not "completed"']],
    ['exit: 1', 'the exit code', ['5:3 the exit code: 1, not 0']],
  ])('gets a difference if it expects %s: %s', async (expected, _, wrong) => {
    const states = { 'START.md': LOOP, 'OTHER.md': 'Nobody comes here.' };
    const answers =
      '{ START: [{ text: <goto>START</goto>, write: { a.txt: a } }, { text: <result>done</result>, cost: 0.01 }] }';
    const scenario = `name: x\nanswers: ${answers}\n\nexpect:\n  ${expected}\n`;
    expect(await wrongWith(states, scenario)).toStrictEqual(wrong);
  });

  test('reports first its end, then its path, and every problem once', async () => {
    const scenario = `answers: { START: { fail: refusal } }
expect: { result: a, results: { x: y }, path: { main: [START, START], x: [START] }, exit: 0, cost: 1, status: completed }`;
    const refused = '[main] failed: START.md: Claude declined to answer: ';
    expect(await wrongWith({ 'START.md': LOOP }, scenario)).toStrictEqual([
      '2:85 the exit code: 0, not 1',
      expect.stringContaining(`2:85 the reason: ${refused}`),
      '2:103 the status of the run: "completed", not "failed"',
      '2:49 the path of main: ["START.md","START.md"], not ["START.md"]',
      '2:71 x: there is no agent x: there is only main',
      '2:11 the result of main: main has come to no result; `a` is expected',
    ]);
  });

  test('reports only its results if it fails unexpectedly, because nothing else could be as expected', async () => {
    const long = 'It is done, and it was a great pleasure to do it; there is nothing left that anybody could wish for.';
    const scenario = `answers: { START: { fail: refusal } }
expect: { cost: 1, turns: 7, path: [START, START], files: { a: b }, result: "${long}", prompts: { OTHER: a } }`;
    expect(await wrongWith({ 'START.md': LOOP, 'OTHER.md': 'Nobody comes here.' }, scenario)).toStrictEqual([
      '1:1 it: the run should complete, but it ends as failed',
      expect.stringContaining('1:1 the reason: [main] failed: START.md: Claude declined to answer: '),
      '2:30 the path of main: ["START.md","START.md"], not ["START.md"]',
      '2:69 the result of main: main has come to no result; `It is done, and it was a great pleasure to do it; there is n…` is expected',
    ]);
  });

  test('is checked completely if its failure is expected', async () => {
    const scenario = 'answers: { START: { fail: refusal } }\nexpect: { status: failed, turns: 7 }';
    expect(await wrongWith({ 'START.md': LOOP }, scenario)).toStrictEqual(['2:27 the number of turns: 7, not 1']);
  });

  test('must complete unless another end is expected', async () => {
    expect(await wrongWith({ 'START.md': LOOP }, 'answers: { START: { fail: billing } }')).toStrictEqual([
      '1:1 it: the run should complete, but it ends as paused',
      expect.stringContaining('1:1 the reason: [main] paused: '),
    ]);
  });

  test('fails if it lacks an answer, regardless of its expectations, and names it', async () => {
    const scenario = 'answers: { START: [<goto>START</goto>] }\nexpect: { status: paused, path: [START] }';
    expect(await wrongWith({ 'START.md': LOOP }, scenario)).toStrictEqual([
      '1:12 it: START.md has one answer, and this is visit 2 of main. Add one to the list.',
      '2:27 the path of main: ["START.md"], not ["START.md","START.md"]',
    ]);
  });

  test('ends after a thousand states instead of running forever', async () => {
    const scenario = 'answers: { START: <goto>START</goto> }\nexpect: { status: iteration_limit, turns: 1000 }';
    expect(await wrongWith({ 'START.md': LOOP }, scenario)).toStrictEqual([]);
  });

  test('has not visited a state that it was not allowed to enter', async () => {
    const bounded = LOOP.replace('---\n', '---\nmax_visits: 2\n');
    const scenario = `answers: { START: <goto>START</goto> }
scenarios:
  - { name: by the state, expect: { status: iteration_limit, path: [START, START], turns: 2 } }
  - { name: by the run, options: { max_iterations: 1 }, expect: { status: iteration_limit, path: [START] } }
  - name: and needs no answer there
    answers: { START: [<goto>START</goto>, <goto>START</goto>] }
    expect: { status: iteration_limit, path: [START, START] }
  - name: nor at the end of the run
    options: { max_iterations: 1 }
    answers: { START: [<goto>START</goto>] }
    expect: { status: iteration_limit, path: [START] }`;
    const results = await resultsIn(folderWith({ 'START.md': bounded, 'a.test.yaml': scenario }));
    expect(results.map(({ differences }) => differences)).toStrictEqual([[], [], [], []]);
  });

  test('may set that limit itself', async () => {
    const scenario =
      'options: { max_iterations: 3 }\nanswers: { START: <goto>START</goto> }\nexpect: { exit: 4, turns: 3 }';
    expect(await wrongWith({ 'START.md': LOOP }, scenario)).toStrictEqual([]);
  });

  test('takes no time for retries, limits and seconds, but keeps their order', async () => {
    const fork = '<fork n="1" next="WAIT">W</fork><fork n="2" next="WAIT">W</fork>';
    const scenario = `
answers:
  START.md: '${fork}'
  WAIT.md:
    turns: [{ fail: usage_limit, seconds: 8000, resets_in: 80000 }, <result>w</result>]
  W.md:
    - when: { n: 1 }
      text: <result>late</result>
      seconds: 7200
      write: { last.txt: late }
    - when: { n: 2 }
      turns: [{ fail: overloaded }, { fail: overloaded }, { text: <result>early</result>, seconds: 3600, write: { last.txt: early } }]
expect: { results: { main_w1: late, main_w2: early }, files: { last.txt: late }, turns: 7 }`;
    const states = { 'START.md': 'Fork.', 'WAIT.md': 'Wait.', 'W.md': 'Work on {{n}}.' };
    expect(await wrongWith(states, scenario, { timeoutMs: 15_000 })).toStrictEqual([]);
  });
});

describe('a warning of a run', () => {
  const states = { 'START.md': `---\nmax_visist: 3\n${LOOP.slice(4)}` };
  const answers = 'answers: { START: [<goto>START</goto>, "<result>{{no}}</result>"] }';
  const typo = 'START.md:2:1: the key `max_visist` is unknown and has no effect (did you mean max_visits?)';

  test('is reported once with the scenario, with the path of the state relative to the working directory', async () => {
    const warnings = [typo, 'START.md: {{hint}} is not set', 'a.test.yaml: the answer for START.md: {{no}} is not set'];
    expect(await warnedBy(states, answers)).toStrictEqual(warnings);
    const elsewhere = folderWith({ 'w/START.md': states['START.md'], 'w/tests/a.test.yaml': answers });
    const [result] = await resultsIn(elsewhere);
    expect(result?.warnings).toStrictEqual([
      join('w', typo),
      join('w', 'START.md: {{hint}} is not set'),
      `${join('w', 'tests', 'a.test.yaml')}: the answer for START.md: {{no}} is not set`,
    ]);
  });

  test('is reported after a crash, too', async () => {
    const scenario = 'answers: { START: { text: <result>r</result>, crash: true } }';
    expect(await warnedBy({ 'START.md': LOOP }, scenario)).toStrictEqual(['START.md: {{hint}} is not set']);
  });

  test('can be expected, in total or by state', async () => {
    const expecting = (warnings: string) => wrongWith(states, `${answers}\nexpect: { warnings: ${warnings} }`);
    expect(await expecting('3')).toStrictEqual([]);
    expect(await expecting('{ START: 3 }')).toStrictEqual([]);
    expect(await expecting('0')).toStrictEqual(['2:11 the number of warnings: 0, not 3']);
  });
});

describe('scripts', () => {
  const states = { 'START.sh': 'echo real > made.txt; echo "<result>$hint $RAYMOND_RESULT</result>"' };

  test.skipIf(windows)('are executed in the folder of the scenario (not on Windows)', async () => {
    const scenario = 'vars: { hint: h }\ninput: i\nexpect: { result: h i, files: { made.txt: "real\\n" } }';
    expect(await wrongWith(states, scenario)).toStrictEqual([]);
  });

  test('are replayed if they have an answer', async () => {
    const scenario =
      'answers: { START: <result>r</result> }\nexpect: { result: r, files: { made.txt: { absent: true } } }';
    expect(await wrongWith(states, scenario)).toStrictEqual([]);
  });

  test('may be forbidden', async () => {
    expect(await wrongWith(states, 'scripts: played\nexpect: {}')).toStrictEqual([
      expect.stringMatching(/^1:1 it: this scenario has no answer for START\.(sh|ps1)\. Add `START/),
    ]);
  });

  test.skipIf(windows)(
    'are ended if they take too long, and their positions are reported (not on Windows)',
    async () => {
      const [wrong] = await wrongWith({ 'START.sh': '/bin/sleep 600' }, 'expect: {}', { timeoutMs: 300 });
      expect(wrong).toMatch(
        /^1:1 it: it took too long and was ended; --timeout gives it more time\nmain in START\.sh(, turn 1: its script was running|: it waited for its turn)$/,
      );
    },
  );

  test.skipIf(windows)('are quoted with what they said on stderr if they take too long (not on Windows)', async () => {
    const script = 'echo "waiting for godot" >&2; /bin/sleep 600';
    const [wrong] = await wrongWith({ 'START.sh': script }, 'expect: {}', { timeoutMs: 3_000 });
    expect(wrong).toMatch(/\nmain in START\.sh said on stderr:\n {2}waiting for godot$/);
  });

  test.skipIf(windows)('do not sleep, unless the scenario asks for the real program (not on Windows)', async () => {
    const slow = { 'START.sh': 'sleep 3600; PATH="$PWD:$PATH"; sleep 1h; echo "<result>woken</result>"' };
    expect(await wrongWith(slow, 'expect: { result: woken }')).toStrictEqual([]);
    const real = 'bin: { sleep: \'PATH=${PATH#*:} exec sleep "$@"\' }\nexpect: {}';
    const [wrong] = await wrongWith({ 'START.sh': 'sleep 600' }, real, { timeoutMs: 300 });
    expect(wrong).toContain('it took too long and was ended');
  });

  test('are ended in the same way if they would run forever', async () => {
    const scenario = 'options: { max_iterations: 0 }\nanswers: { START: <goto>START</goto> }';
    const [wrong] = await wrongWith({ 'START.md': LOOP }, scenario, { timeoutMs: 300 });
    expect(wrong).toMatch(/\nmain in START\.md(, turn \d+: its answer was being replayed|: it waited for its turn)$/);
  });
});

describe('after a crash', () => {
  test('the run continues from what is on disk', async () => {
    const scenario = `
answers:
  START.md:
    - { text: <goto>START</goto>, cost: 0.01, write: { a.txt: a }, crash: true }
    - turns: [{ text: Hm., crash: true }, { text: <result>done</result>, cost: 0.02, crash: true }]
expect: { path: [START, START], cost: 0.03, turns: 3, reminders: 1, files: { a.txt: a } }`;
    const folder = folderWith({ 'START.md': LOOP, 'a.test.yaml': scenario });
    const [result] = await resultsIn(folder, { keep: true });
    expect(result?.differences).toStrictEqual([]);
    const kept = result?.folder ?? '';
    const journal = readFileSync(join(kept, '.raymond/runs/test/journal.jsonl'), 'utf8');
    expect(journal.match(/"run_resumed"/g)).toHaveLength(3);
    // Each process took the run from one that had not given it free.
    const owners = journal.match(/(?<="owner":)\d+/g) ?? [];
    expect([...new Set(owners)]).toStrictEqual(['1', '2', '3', '4']);
    const { finished } = await resumeRun('test', { cwd: kept, takeOver: true });
    expect((await finished).status).toBe('completed');
  });

  test('other agents repeat the turns that were interrupted', async () => {
    const scenario = `
answers:
  START.md: '<fork next="NEXT">W</fork>'
  NEXT.md: { text: <result>n</result>, seconds: 5, crash: true }
  W.md: { text: <result>w</result>, seconds: 10, uses: [Write a, Write b], write: { a: "1", b: "2" } }
expect: { results: { main: n, main_w1: w }, turns: 3, files: { a: "1", b: "2" } }`;
    expect(await wrongWith({ 'START.md': 'Fork.', 'NEXT.md': 'Go.', 'W.md': 'Work.' }, scenario)).toStrictEqual([]);
  });

  test.skipIf(windows)('a running script is adopted, and not started twice (not on Windows)', async () => {
    const states = {
      'START.sh': `echo '<fork next="SLOW">W</fork>'`,
      'SLOW.sh': 'echo x >> started.txt; until [ -e go.txt ]; do sleep 0.02; done; echo "<result>s</result>"',
      'W.md': '---\nallowed_transitions: [{ tag: goto, target: LAST.md }]\n---\nWork.',
      'LAST.md': 'Say it.',
    };
    const scenario = `
answers:
  W.md: { text: Done., crash: true }
  LAST.md: { text: <result>w</result>, write: { go.txt: "" } }
expect: { results: { main: s, main_w1: w }, files: { started.txt: "x\\n" }, turns: { SLOW: 1 } }`;
    expect(await wrongWith(states, scenario)).toStrictEqual([]);
  });

  test('replayed scripts may cause it', async () => {
    const scenario = 'answers: { START: { text: <result>r</result>, crash: true } }\nexpect: { result: r, turns: 1 }';
    expect(await wrongWith({ 'START.sh': 'echo "<result>real</result>"' }, scenario)).toStrictEqual([]);
  });
});

describe('the folder of a scenario', () => {
  const files = { 'START.md': LOOP, 'a.test.yaml': 'answers: { START: <result>r</result> }' };

  test('is removed afterwards, unless it is to be kept', async () => {
    const [gone] = await resultsIn(folderWith(files));
    expect(gone?.folder).toBeNull();
    const [kept] = await resultsIn(folderWith(files), { keep: true });
    expect(existsSync(join(kept?.folder ?? '', '.raymond/state/test.json'))).toBe(true);
  });

  test('is not created after an abort', async () => {
    const enough = new AbortController();
    enough.abort();
    expect(await resultsIn(folderWith(files), { ...REQUEST, abortSignal: enough.signal })).toStrictEqual([]);
  });
});

test('many scenarios are reported in order, regardless of their durations', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `s${at}`);
  const scenarios = names.map((name, at) => `  - { name: ${name}, options: { max_iterations: ${40 - at} } }`);
  const shared = 'answers: { START: <goto>START</goto> }\nscenarios:\n';
  const results = await resultsIn(folderWith({ 'START.md': LOOP, 'a.test.yaml': shared + scenarios.join('\n') }));
  expect(results.map(({ testCase }) => testCase.spec.name)).toStrictEqual(names);
});
