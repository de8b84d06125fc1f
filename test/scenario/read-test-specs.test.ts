import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RaymondError } from '../../src/errors.ts';
import {
  openScenarioFile,
  parseScenarioFile,
  resolveWorkflowPaths,
  type ScenarioFile,
} from '../../src/scenario/file.ts';
import { openScenario } from '../../src/scenario/read-scenario.ts';
import { readTestSpecs } from '../../src/scenario/read-test-specs.ts';
import type { TestSpec } from '../../src/scenario/test-spec.ts';

const SCOPE = { files: ['START.md', 'NAME.md', 'CHECK.sh', 'CHECK.ps1'], platform: 'unix' } as const;

/** The scenarios of a file, all of which are for the same workflow. */
const scenariosOf = (file: ScenarioFile): readonly TestSpec[] =>
  readTestSpecs(
    file,
    resolveWorkflowPaths(file).map(() => SCOPE),
  );

const read = (text: string): readonly TestSpec[] => scenariosOf(parseScenarioFile('dir/a.test.yaml', text, 'dir'));

/** What a state answers on its first visit. */
const says = ({ scenario }: TestSpec, state: string): string | undefined =>
  scenario.answers.get(state)?.cases[0]?.visits[0]?.[0]?.text;

describe('a file with one scenario', () => {
  test('is named like the file unless it has a name', () => {
    expect(read('answers: {}').map(({ name }) => name)).toStrictEqual(['a']);
    expect(read('name: x').map(({ name }) => name)).toStrictEqual(['x']);
  });

  test('has the circumstances of its run', () => {
    const [only] = read(`
input: i
vars: { n: 1, b: true, t: x }
options: { budget: 0, max_iterations: 3, wait: false, reset_stack: clear, timeout: 1.5 }
files: { a/b.txt: c }
scripts: played
recorded_scripts: { CHECK.sh: 0123456789ab }
`);
    expect(only).toMatchObject({ input: 'i', files: { 'a/b.txt': 'c' }, scenario: { scripts: 'played' } });
    expect(only?.scenario.scriptFingerprints).toStrictEqual(new Map([['CHECK.sh', '0123456789ab']]));
    expect(only?.options).toStrictEqual({
      budgetMicros: null,
      maxIterations: 3,
      wait: false,
      resetStack: 'clear',
      timeoutMs: 1500,
      variables: { n: '1', b: 'true', t: 'x' },
    });
  });

  test('has expectations with positions', () => {
    const [only] = read(`expect:
  path: [START, CHECK]
  results: { main: r }
  prompts:
    NAME: { contains: a, matches: [b, c] }
  files: { x: { absent: true }, y: "" }
  cost: { START: 1 }
  turns: 2
  exit: 3
  warnings: { NAME: 1 }
`);
    const text = (equals: string | null, more = {}) => ({ equals, contains: [], lacks: [], matches: [], ...more });
    expect(only?.expectations).toStrictEqual([
      { kind: 'exit', code: 3, line: 9, column: 3 },
      { kind: 'path', agent: 'main', states: ['START.md', 'CHECK.sh'], line: 2, column: 3 },
      { kind: 'result', agent: 'main', text: text('r'), line: 3, column: 14 },
      {
        kind: 'prompts',
        agent: null,
        state: 'NAME.md',
        every: true,
        line: 5,
        column: 5,
        visits: [text(null, { contains: ['a'], matches: ['b', 'c'] })],
      },
      { kind: 'file', name: 'x', text: null, line: 6, column: 12 },
      { kind: 'file', name: 'y', text: text(''), line: 6, column: 33 },
      { kind: 'cost', state: 'START.md', usd: 1, line: 7, column: 11 },
      { kind: 'turns', state: null, count: 2, line: 8, column: 3 },
      { kind: 'warnings', state: 'NAME.md', count: 1, line: 10, column: 15 },
    ]);
  });
});

test('several scenarios share the keys beside them, and override them', () => {
  const [first, second] = read(`
input: i
vars: { a: "1", b: "1" }
options: { retries: 1, reminders: 1 }
files: { x: shared, y: shared }
answers: { START: shared, NAME: shared }
scenarios:
  - name: one
  - name: two
    input: j
    vars: { b: "2" }
    options: { retries: 2 }
    files: { y: own }
    answers: { NAME.md: own }
    expect: { turns: 1 }
`);
  expect(first).toMatchObject({ name: 'one', input: 'i', at: { line: 8, column: 5 }, expectations: [] });
  expect([first, second].map((each) => each && [says(each, 'START.md'), says(each, 'NAME.md')])).toStrictEqual([
    ['shared', 'shared'],
    ['shared', 'own'],
  ]);
  expect(second).toMatchObject({
    name: 'two',
    input: 'j',
    files: { x: 'shared', y: 'own' },
    options: { retries: 2, reminders: 1, variables: { a: '1', b: '2' } },
    expectations: [{ kind: 'turns', line: 15 }],
  });
});

describe('answers from another file', () => {
  function folderWith(files: Readonly<Record<string, string>>): string {
    const folder = mkdtempSync(join(tmpdir(), 'raymond-scenario-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return folder;
  }

  test('are used where there are none, with their positions', () => {
    const folder = folderWith({
      'a.test.yaml': 'answers_from: b.yaml\nanswers: { NAME: own }',
      'b.yaml': 'answers_from: c.yaml\n\nanswers: { START: b }',
      'c.yaml': 'answers: { START: c, NAME: c, CHECK: c }',
    });
    const [only] = scenariosOf(openScenarioFile(join(folder, 'a.test.yaml'), 'here/a.test.yaml'));
    const parts = only?.scenario.answers;
    expect(['START.md', 'NAME.md', 'CHECK.sh'].map((state) => only && says(only, state))).toStrictEqual([
      'b',
      'own',
      'c',
    ]);
    expect(parts?.get('START.md')).toMatchObject({ file: join('here', 'b.yaml'), line: 3 });
    const played = openScenario(join(folder, 'a.test.yaml'), SCOPE);
    expect([...played.answers.keys()].sort()).toStrictEqual(['CHECK.sh', 'NAME.md', 'START.md']);
  });

  test('are an error if the file is missing, invalid or circular', () => {
    const folder = folderWith({
      'a.yaml': 'answers_from: nowhere.yaml',
      'b.yaml': 'answers_from: wrong.yaml',
      'wrong.yaml': 'answers: 5',
      'c.yaml': 'answers_from: c.yaml',
    });
    const open = (name: string) => () => scenariosOf(openScenarioFile(join(folder, name), name));
    expect(open('a.yaml')).toThrow('there is no nowhere.yaml');
    expect(open('b.yaml')).toThrow('wrong.yaml:1:10: `answers` must be a mapping of states to answers, not `5`');
    expect(open('c.yaml')).toThrow('c.yaml cannot be used: the files that `answers_from` names form a loop');
  });
});

describe('a mistake is reported with its place', () => {
  test.each<[string, string, string]>([
    ['an unknown key', 'exptect: {}', '1:1: the key `exptect` is unknown (did you mean expect?)'],
    [
      'an unknown key of a scenario',
      'scenarios: [{ name: a, flow: b }]',
      '1:24: the key `flow` is unknown: known are name, workflow, answers_from, input, vars, options, files, files_from, bin, scripts, recorded_scripts, answers, asks, expect',
    ],
    ['an unknown expectation', 'expect: { reslut: a }', '1:11: the key `reslut` is unknown (did you mean result?)'],
    ['an unknown option', 'options: { retires: 1 }', '1:12: the key `retires` is unknown (did you mean retries?)'],
    [
      'an unknown wish',
      'expect: { result: { contians: a } }',
      '1:21: the key `contians` is unknown (did you mean contains?)',
    ],
    [
      'a misspelt key in an answer of a scenario',
      'scenarios: [{ name: a, answers: { START: { txt: a } } }]',
      '1:44: the key `txt` is unknown (did you mean text?)',
    ],
    [
      'a name twice',
      'scenarios:\n  - name: a\n  - name: b\n  - name: a',
      '4:5: the scenario on line 2 is called `a` already: give each its own name',
    ],
    ['no name', 'scenarios: [{ answers: {} }]', '1:13: `name` must be a text, not nothing'],
    [
      'a name beside names',
      'name: x\nscenarios: [{ name: a }]',
      '1:1: `name` cannot be used beside `scenarios`: move it into one of them',
    ],
    ['no scenarios', 'scenarios: []', '1:12: `scenarios` must be a list of at least one, not an empty list'],
    ['a wrong status', 'expect: { status: complete }', '1:19: `status` cannot be `complete` (did you mean completed?)'],
    [
      'a fingerprint that is none',
      'recorded_scripts: { CHECK.sh: 3f }',
      '1:31: `CHECK.sh` must be twelve hexadecimal digits, not the text `3f`',
    ],
    [
      'a fingerprint of a prompt',
      'recorded_scripts: { NAME.md: 0123456789ab }',
      '1:21: `NAME.md` is not a script: it does not belong here',
    ],
    [
      'a fingerprint of nothing',
      'recorded_scripts: { CHEKC.sh: 0123456789ab }',
      '1:21: there is no state `CHEKC.sh` in this workflow (did you mean CHECK.sh?)',
    ],
    [
      'a state that may have another name now',
      'answers: { START: a, REPAIR.md: b }',
      '1:22: there is no state `REPAIR.md` in this workflow; NAME.md has no answer here: has it been renamed?',
    ],
    [
      'a state that may be several',
      'answers: { REPAIR.md: b }',
      '1:12: there is no state `REPAIR.md` in this workflow',
    ],
    ['a wrong choice', 'scripts: fake', '1:10: `scripts` cannot be `fake`: it is one of real, played'],
    ['an exit code', 'expect: { exit: 300 }', '1:17: `exit` must be a whole number from 0 to 255, not `300`'],
    [
      'a count',
      'expect: { turns: 1.5 }',
      '1:18: `turns` must be a whole number of at least 0, or a mapping of states to such numbers, not `1.5`',
    ],
    [
      'no wish',
      'expect: { result: {} }',
      '1:19: this expects nothing: give it one of equals, contains, lacks, matches',
    ],
    [
      'a pattern',
      'expect: { result: { matches: "(" } }',
      '1:30: this is not a regular expression: /(/m: Unterminated group',
    ],
    [
      'absent and more',
      'expect: { files: { a: { absent: true, equals: b } } }',
      '1:25: `absent` cannot be combined with others: a missing file has no content',
    ],
    ['not absent', 'expect: { files: { a: { absent: false } } }', '1:33: `absent` must be `true`, not `false`'],
    [
      'a file elsewhere',
      'expect: { files: { ../a: b } }',
      '1:20: `../a` leaves the working directory: name a file inside it, without `..`',
    ],
    [
      'a file to begin with elsewhere',
      'files: { /a: b }',
      '1:10: `/a` leaves the working directory: name a file inside it, without `..`',
    ],
    [
      'a state on the path',
      'expect: { path: [START, NAEM] }',
      '1:25: there is no state `NAEM` in this workflow (did you mean NAME?)',
    ],
    [
      'a state on a path of an agent',
      'expect: { path: { main: [NO] } }',
      '1:26: there is no state `NO` in this workflow',
    ],
    [
      'a state of a prompt',
      'expect: { prompts: { NAEM: a } }',
      '1:22: there is no state `NAEM` in this workflow (did you mean NAME?)',
    ],
    [
      'a script that is sent a prompt',
      'expect: { prompts: { CHECK: a } }',
      '1:22: `CHECK.sh` is a script and is sent no prompt: it does not belong here',
    ],
    [
      'a state twice',
      'expect: { turns: { NAME: 1, NAME.md: 1 } }',
      '1:29: `NAME.md` is NAME.md again: keep one of them',
    ],
    [
      'a variable',
      'vars: { state: x }',
      '1:9: `state` cannot be a variable: {{state}} has a meaning of its own; use another name',
    ],
    [
      'an option that is too much',
      'options: { parallel: 1000000000 }',
      '1:22: `parallel` must be a whole number of at least 0, not `1000000000`',
    ],
    ['a crash', 'answers: { START: { crash: 1 } }', '1:28: `crash` must be true or false, not `1`'],
  ])('%s', (_, text, wrong) => {
    try {
      read(text);
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof RaymondError)) throw error;
      expect(error.message).toBe(`dir/a.test.yaml cannot be used: 1 error\ndir/a.test.yaml:${wrong}`);
    }
  });
});
