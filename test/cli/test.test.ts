import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

const windows = process.platform === 'win32';

const LOOP = `---
allowed_transitions:
  - { tag: goto, target: START.md }
  - { tag: result }
---
Is it done? Answer with <result>done</result>, or with <goto>START.md</goto>.
`;

const TWO = `answers:
  START.md: [<goto>START</goto>, <result>done</result>]
scenarios:
  - name: goes round once
    expect: { path: [START, START] }
  - name: is wrong
    expect:
      path: [START]
      result: |
        done
        twice
`;

/** A room with a workflow in it. */
function projectWith(files: Readonly<Record<string, string>>): CliProject {
  const project = newCliProject();
  for (const [name, text] of Object.entries({ 'START.md': LOOP, ...files })) {
    mkdirSync(dirname(join(project.cwd, name)), { recursive: true });
    writeFileSync(join(project.cwd, name), text);
  }
  return project;
}

/** What differs from time to time. */
const timeless = (text: string): string => text.replace(/\b\d+(\.\d+)? (ms|s)\b/g, 'a while');

describe('raymond test', () => {
  test('prints a line for each scenario, details of failures, and the counts', async () => {
    const { code, out, err } = await projectWith({ 'a.test.yaml': TWO }).raymond('test');
    expect({ code, err }).toStrictEqual({ code: 1, err: '' });
    expect(timeless(out)).toBe(`a.test.yaml
  ✓ goes round once  a while
  ✗ is wrong  a while

✗ is wrong  a.test.yaml:6
  a.test.yaml:8:7: the path of main is not as expected (- expected, + actual)
      START.md
    + START.md
  a.test.yaml:9:7: the result of main is not as expected (- expected, + actual)
      done
    - twice

2 scenarios: 1 passed, 1 failed (a while)
`);
  });

  test('prints the place of every difference, and the reason below it', async () => {
    const scenarios = `answers: { START: { fail: refusal } }
scenarios:
  - name: fails
    expect: { result: done }
  - name: should complete
    expect: { status: completed }
  - name: lacks something
    answers: { START: [<goto>START</goto>] }
    expect: { path: [START, START] }
`;
    const { out } = await projectWith({ 'w/START.md': LOOP, 'w/a.test.yaml': scenarios }).raymond('test', 'w');
    const because =
      '    [main] failed: START.md: Claude declined to answer: Claude is unable to respond to this request. Rephrase the prompt or choose another `model`.';
    const file = join('w', 'a.test.yaml');
    expect(timeless(out)).toContain(`
✗ fails  ${file}:3
  ${file}:3:5: the run should complete, but it ends as failed
${because}
  ${file}:4:15: main has come to no result; \`done\` is expected

✗ should complete  ${file}:5
  ${file}:6:15: the status of the run should be completed, but is failed
${because}

✗ lacks something  ${file}:7
  ${file}:8:16: START.md has one answer, and this is visit 2 of main. Add one to the list.

`);
  });

  const WARNING = `answers: { START: [<goto>START</goto>, <result>r</result>] }
scenarios:
  - { name: one }
  - { name: two }
  - { name: three, expect: { warnings: 0 } }
  - { name: four, vars: { hint: x } }
`;
  const hinting = { 'w/START.md': LOOP.replace('Is it', '{{hint}} Is it'), 'w/a.test.yaml': WARNING };

  test('prints the warnings of each scenario below it, in full only once', async () => {
    const { code, out } = await projectWith(hinting).raymond('test', 'w');
    expect(code).toBe(1);
    const warning = `warning: ${join('w', 'START.md')}: {{hint}} is not set`;
    expect(timeless(out)).toBe(`${join('w', 'a.test.yaml')}
  ✓ one  a while
    ${warning}
  ✓ two  a while
    1 warning as above
  ✗ three  a while
  ✓ four  a while

✗ three  ${join('w', 'a.test.yaml')}:5
  ${join('w', 'a.test.yaml')}:5:30: the number of warnings should be 0, but is 1
  ${warning}

4 scenarios: 3 passed, 1 failed; 1 warning (a while)
`);
  });

  test('includes all warnings in its document', async () => {
    const { out } = await projectWith(hinting).raymond('test', 'w', '--json');
    const warned = [`${join('w', 'START.md')}: {{hint}} is not set`];
    expect(JSON.parse(out)).toMatchObject({
      scenarios: [{ warnings: warned }, { warnings: warned }, { warnings: warned }, { warnings: [] }],
    });
  });

  test('limits the number of warnings of a scenario', async () => {
    const states = { 'w/START.md': `---\na: 1\nb: 2\nc: 3\nd: 4\ne: 5\n${LOOP.slice(4)}` };
    const scenarios = WARNING.replace(/ {2}- \{ name: three[\s\S]*/, '');
    const { out } = await projectWith({ ...states, 'w/a.test.yaml': scenarios }).raymond('test', 'w');
    expect(out.match(/the key `\w` is unknown/g)).toHaveLength(5);
    expect(out).toContain('    … 2 more warnings: --json shows all\n');
    expect(out).toContain('    3 warnings as above\n');
  });

  /** What is said on a terminal of 40 columns. */
  async function narrowly(project: CliProject, ...argv: readonly string[]): Promise<string> {
    const mine = project.terminal();
    const nothing = () => () => {};
    const screen = {
      write: () => {},
      color: false,
      onResize: nothing,
      onLeave: nothing,
      size: () => ({ columns: 40, rows: 24 }),
    };
    await runCli(argv, { ...mine, outIsScreen: true, screen });
    return mine.output().out;
  }

  test('prints the coverage in a narrow terminal, each number with its label', async () => {
    const project = projectWith({ 'w/START.md': LOOP, 'w/a.test.yaml': 'answers: { START: <result>r</result> }' });
    expect(await narrowly(project, 'test', 'w', '--coverage')).toContain(`
w
  states          1/1
  transitions     1/2
  policy entries  1/2
  covered         60%
Never taken:
`);
  });

  test('fits the width of the terminal', async () => {
    const out = await narrowly(projectWith(hinting), 'test', 'w');
    expect(out).toContain('\n  w');
    expect(out.split('\n').filter((line) => line.length > 40)).toStrictEqual([]);
  });

  test('exits with 0 if all scenarios pass', async () => {
    const project = projectWith({ 'a.test.yaml': TWO });
    const { code, out } = await project.raymond('test', 'a.test.yaml', '--filter', 'ROUND');
    expect({ code, out: timeless(out) }).toStrictEqual({
      code: 0,
      out: 'a.test.yaml\n  ✓ goes round once  a while\n\n1 scenario: all passed (a while)\n',
    });
  });

  test.each([
    ['0.2', '0.21', 'should be $0.20, but is $0.21'],
    ['1', '0.0000015', 'should be $1.000000, but is $0.000002'],
    ['0', '3', 'should be $0.00, but is $3.00'],
  ])('formats amounts of money consistently: %s and %s', async (expected, actual, words) => {
    const scenario = `answers: { START: { text: <result>r</result>, cost: ${actual} } }\nexpect: { cost: ${expected} }`;
    const { out } = await projectWith({ 'a.test.yaml': scenario }).raymond('test');
    expect(out).toContain(`the cost ${words}\n`);
  });

  test('runs only the scenario whose name equals --filter, if there is one', async () => {
    const names = 'answers: { START: <result>r</result> }\nscenarios: [{ name: limit }, { name: limit without wait }]';
    const project = projectWith({ 'a.test.yaml': names });
    expect((await project.raymond('test', '--filter', 'Limit')).out).toContain('\n1 scenario: all passed');
    expect((await project.raymond('test', '--filter', 'limi')).out).toContain('\n2 scenarios: all passed');
  });

  test('prints a document with --json', async () => {
    const { code, out } = await projectWith({ 'a.test.yaml': TWO }).raymond('test', '.', '--json', '--coverage');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      passed: 1,
      failed: 1,
      unusable: [],
      duration_ms: expect.any(Number),
      scenarios: [
        { name: 'goes round once', file: 'a.test.yaml', line: 4, workflow: '.', passed: true, differences: [] },
        {
          name: 'is wrong',
          passed: false,
          differences: [
            { what: 'the path of main', line: 8, column: 7, expected: ['START.md'], actual: ['START.md', 'START.md'] },
            { what: 'the result of main', expected: 'done\ntwice', actual: 'done' },
          ],
        },
      ],
      coverage: {
        percent: 100,
        workflows: [
          {
            workflow: '.',
            percent: 100,
            states: [{ state: 'START.md', line: 1, label: 'START.md', times: 4 }],
            traffic: { ways: expect.any(Array) },
          },
        ],
      },
    });
  });

  test('lists what is never taken, and fails below the required coverage', async () => {
    const project = projectWith({ 'a.test.yaml': 'answers: { START: <result>r</result> }' });
    const { code, out, err } = await project.raymond('test', '--coverage', '--min-coverage', '61');
    expect({ code, err }).toStrictEqual({ code: 1, err: 'raymond: 60% covered, less than 61%\n' });
    expect(out).toContain(`
workflow  states  transitions  policy entries  covered
.            1/1          1/2             1/2      60%
Never taken:
  START.md:3: goto START.md
`);
    expect(await project.raymond('test', '--min-coverage', '60')).toMatchObject({ code: 0 });
    expect(await project.raymond('test', '--min-coverage', '61')).toMatchObject({
      code: 1,
      err: 'raymond: 60% covered, less than 61%\n--coverage shows what is missing.\n',
    });
    expect(await project.raymond('test', '--graph', 'covered.mmd')).toMatchObject({
      code: 0,
      err: 'Wrote covered.mmd\n',
    });
    expect(readFileSync(join(project.cwd, 'covered.mmd'), 'utf8')).toMatch(/"START.md<br\/>\d+ visits?/);
  });

  test('runs the other files if one cannot be used', async () => {
    const project = projectWith({
      'a.test.yaml': 'expect: { reslut: a }',
      'b.test.yaml': TWO,
      'c/c.test.yaml': '{}',
      'c/d.test.yaml': '{}',
      'e.test.yaml': 'workflow: d/START.md',
      'd/d.test.yaml': '{}',
      'd/START.md': LOOP.replace('target: START.md', 'target: NOWHERE.md'),
    });
    const { code, out } = await project.raymond('test', '--filter', 'round');
    expect(code).toBe(65);
    expect(timeless(out)).toBe(`b.test.yaml
  ✓ goes round once  a while

a.test.yaml cannot be used: 1 error
a.test.yaml:1:11: the key \`reslut\` is unknown (did you mean result?)

e.test.yaml: d/START.md cannot be run: 1 error
d/START.md:3:26: \`target\`: there is no state \`NOWHERE.md\` in this workflow

c/c.test.yaml, c/d.test.yaml: c cannot be run: 1 error
c: there is no state to start in: add a START.md or 1_START.md

d/d.test.yaml: d cannot be run: 1 error
d/START.md:3:26: \`target\`: there is no state \`NOWHERE.md\` in this workflow

1 scenario: all passed; 5 files cannot be used (a while)
`);
  });

  test.each([
    [['test', 'nowhere'], 'raymond: there is no nowhere\n'],
    [['test', 'START.md'], 'raymond: there are no scenarios for START.md\n'],
    [['test', '--filter', 'zzz'], 'raymond: no scenario matches `zzz`\nThere are: goes round once, is wrong.\n'],
    [['test', '--output', 'x'], 'raymond: --output cannot be used with test without --record\n'],
    [['test', '--graph', 'x.png'], 'raymond: the format is not clear from the name `x.png`\n'],
    [['test', '--min-coverage', '101'], 'raymond: --min-coverage must be from 0 to 100\n'],
    [['test', '--min-coverage', 'all'], 'raymond: --min-coverage must be a number of at least 0, not `all`\n'],
    [['test', '--record', 'last'], 'raymond: no such run: last\n'],
    [['test', 'x', '--record', 'last'], 'raymond: `x` cannot be used with --record\n'],
    [['test', '--record', 'last', '--graph', 'x.svg'], 'raymond: --graph cannot be used with test --record\n'],
    [['test', '--record', 'last', '--json'], 'raymond: --json cannot be used with test --record\n'],
  ])('%j is refused', async (argv, message) => {
    const { code, err } = await projectWith({ 'a.test.yaml': TWO }).raymond(...argv);
    expect(code).toBe(64);
    expect(err).toContain(message);
  });

  test('refuses to draw two workflows before it runs either', async () => {
    const project = projectWith({ 'a.test.yaml': TWO, 'w/START.md': LOOP, 'w/b.test.yaml': TWO });
    expect(await project.raymond('test', '--graph', 'x.html')).toStrictEqual({
      code: 64,
      out: '',
      err: 'raymond: --graph draws one workflow\nName one PATH whose scenarios are all about the same workflow.\n',
    });
    expect(await project.raymond('test', 'w', '--graph', 'x.mmd')).toMatchObject({ code: 1 });
  });

  test('prints the problems of a file even if a graph is requested', async () => {
    const project = projectWith({ 'a.test.yaml': 'expect: { reslut: a }' });
    expect(await project.raymond('test', '--graph', 'x.html')).toMatchObject({ code: 65, err: '' });
  });

  test('shows a prompt once, however many expectations it does not meet', async () => {
    const scenario = `answers: { START: <result>r</result> }
expect: { prompts: { START: { contains: [one, two], lacks: Go } } }`;
    const { out } = await projectWith({ 'START.md': 'Go to it.', 'a.test.yaml': scenario }).raymond('test');
    expect(out.match(/Go to it\./g)?.length).toBe(1);
    expect(out.match(/\| the text above/g)?.length).toBe(2);
  });

  test('prints the folders that it keeps', async () => {
    const project = projectWith({ 'a.test.yaml': 'answers: { START: { text: <result>r</result>, write: { x: y } } }' });
    const { out } = await project.raymond('test', '--keep');
    const folder = out.split('\n')[2]?.trim() ?? '';
    expect(folder.startsWith(tmpdir())).toBe(true);
    onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true, maxRetries: 5 }));
    expect(readFileSync(join(folder, 'x'), 'utf8')).toBe('y');
    const there = project.terminal();
    expect(await runCli(['logs', 'last'], { ...there, cwd: folder })).toBe(0);
    expect(there.output().out).toContain('START.md → end (result)');
  });

  describe.skipIf(windows)('at Ctrl-C (not on Windows)', () => {
    /** Presses Ctrl-C while the script of one of three scenarios runs. */
    async function interrupted(known: string, ...argv: readonly string[]) {
      const project = projectWith({ 'START.md': 'Go.', 'GO.sh': 'echo here > "$mark"; /bin/sleep 600' });
      const mark = join(project.cwd, 'mark');
      const scenario = `answers: { START: <result>r</result> }
vars: { mark: ${mark} }
scenarios:
  - { name: passes }
  - { name: fails, expect: { result: x } }
  - { name: hangs, answers: { START: <goto>GO</goto> } }
`;
      writeFileSync(join(project.cwd, 'a.test.yaml'), scenario);
      const mine = project.terminal();
      let interrupt = (): void => {};
      const onInterrupt = (act: () => void) => {
        interrupt = act;
        return () => {};
      };
      const code = runCli(['test', ...argv], { ...mine, onInterrupt });
      while (!(existsSync(mark) && mine.output().out.includes(known))) await new Promise(setImmediate);
      interrupt();
      return { code: await code, ...mine.output() };
    }

    test('prints results so far, the interrupted scenario and its position, and leaves nothing behind', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'raymond-left-behind-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      vi.stubEnv('TMPDIR', folder);
      const { code, out } = await interrupted('fails').finally(() => vi.unstubAllEnvs());
      expect({ code, out: timeless(out) }).toStrictEqual({
        code: 130,
        out: `a.test.yaml
  ✓ passes  a while
  ✗ fails  a while

! hangs  a.test.yaml:6
  interrupted: main in GO.sh, turn 2: its script was running

✗ fails  a.test.yaml:5
  a.test.yaml:5:30: the result of main is not as expected (- expected, + actual)
    - x
    + r

interrupted: 1 passed, 1 failed, 1 interrupted (a while)
`,
      });
      expect(readdirSync(folder).filter((name) => name.startsWith('raymond-test-'))).toStrictEqual([]);
    });

    test('prints the same as a document with --json', async () => {
      const { code, out } = await interrupted('', '--json', '--coverage', '--filter', 'hangs');
      expect(code).toBe(130);
      expect(JSON.parse(out)).toMatchObject({
        passed: 0,
        failed: 0,
        not_begun: 0,
        interrupted: [{ name: 'hangs', line: 6, where: ['main in GO.sh, turn 2: its script was running'] }],
      });
    });
  });
});

describe.skipIf(windows)('raymond test --record (not on Windows)', () => {
  test('records a test of the demo that passes until the workflow is broken', async () => {
    const project = newCliProject();
    await project.raymond('demo', 'demo', '--fast');
    const inDemo = async (...argv: readonly string[]) => {
      const mine = project.terminal();
      const code = await runCli(argv, { ...mine, cwd: join(project.cwd, 'demo') });
      return { code, ...mine.output() };
    };
    const recorded = await inDemo('test', '--record', 'last', '--output', 'workflow/it.test.yaml');
    expect(recorded).toStrictEqual({
      code: 0,
      out: 'workflow/it.test.yaml: 14 answers\nA test of it goes as the recorded run did. To run it again: raymond test workflow/it.test.yaml\n',
      err: '',
    });
    expect(readFileSync(join(project.cwd, 'demo/workflow/it.test.yaml'), 'utf8')).not.toContain(project.cwd);
    expect(await inDemo('test', 'workflow/it.test.yaml')).toMatchObject({ code: 0 });

    const script = join(project.cwd, 'demo/workflow/TEST.sh');
    writeFileSync(script, `${readFileSync(script, 'utf8')}# changed\n`);
    const changed = await inDemo('test', 'workflow/it.test.yaml');
    expect(changed.code).toBe(0);
    expect(changed.out).toContain(
      '\n    warning: workflow/TEST.sh has changed since this was recorded, and the recorded output was used: run it with --real-scripts, or record again\n',
    );
    const real = await inDemo('test', 'workflow/it.test.yaml', '--real-scripts');
    expect(timeless(real.out)).toContain('\n\n1 scenario: all passed (a while)\n');

    const prompt = join(project.cwd, 'demo/workflow/IMPLEMENT.md');
    writeFileSync(prompt, readFileSync(prompt, 'utf8').replace('target: TEST }', 'target: FIX }'));
    const broken = await inDemo('test', 'workflow/it.test.yaml');
    expect(broken.code).toBe(1);
    expect(broken.out).toContain(`
      RESEARCH.md
      IMPLEMENT.md
    - TEST.sh
      FIX.md
      TEST.sh
`);
  });

  test('prints it for -, and says so if a replay differs', async () => {
    const project = projectWith({ 'answers.yaml': 'answers: { START: <result>r</result> }' });
    mkdirSync(join(project.cwd, '.raymond'));
    await project.raymond('.', '--agent', `replay:${project.cwd}/answers.yaml`);
    const shown = await project.raymond('test', '--record', 'last', '--output', '-');
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toMatch(/^# Recorded with/);
    writeFileSync(join(project.cwd, 'scenario.schema.json'), '{}');
    const known = await project.raymond('test', '--record', 'last', '--output', '-');
    expect(known.out).toMatch(/^# yaml-language-server: \$schema=\.\/scenario\.schema\.json\n# Recorded with/);
    expect(shown.out).toMatch(/ {2}START\.md:\n {4}- (text: )?<result>r<\/result>\n/);
    // The workflow has changed since.
    writeFileSync(join(project.cwd, 'START.md'), '---\nallowed_transitions: [{ tag: goto, target: START }]\n---\nGo.');
    const { code, out } = await project.raymond('test', '--record', 'last', '--output', 'a.test.yaml');
    expect(code).toBe(1);
    expect(out).toContain('A test of it does not go as the recorded run did:\n✗ ');
    expect(out).toContain('the status of the run should be completed, but is failed');
  });
});
