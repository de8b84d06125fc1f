import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RaymondError } from '../../src/errors.ts';
import { openScenario, readScenario } from '../../src/scenario/read-scenario.ts';
import type { CannedAnswer, Scenario } from '../../src/scenario/scenario.ts';

const SCOPE = { files: ['START.md', 'CHECK.sh', 'CHECK.ps1', 'BOTH.md', 'BOTH.sh'], platform: 'unix' } as const;

const read = (text: string): Scenario => readScenario('a.yaml', text, SCOPE);
const casesOf = (text: string) => read(text).answers.get('START.md')?.cases;

/** What is wrong with a file, line by line. */
function wrongWith(text: string): readonly string[] {
  try {
    read(text);
    return [];
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    expect(error.exitCode).toBe(65);
    const [head, ...lines] = error.message.split('\n');
    expect(head).toBe(`a.yaml cannot be used: ${lines.length === 1 ? '1 error' : `${lines.length} errors`}`);
    return lines.map((line) => line.replace(/^a\.yaml:/, ''));
  }
}

const says = (text: string, more: Partial<CannedAnswer> = {}): CannedAnswer => ({
  text,
  write: {},
  uses: [],
  deny: [],
  costUsd: 0,
  seconds: 0,
  fail: null,
  resetsInSeconds: 60,
  quotaPercent: null,
  exit: 0,
  stderr: '',
  say: null,
  compact: { costUsd: 0, fails: false },
  crash: false,
  ...more,
});

describe('the answers of a state', () => {
  test.each([
    ['a text is for every visit', 'START.md: a', [{ when: {}, everyVisit: true, visits: [[says('a')]] }]],
    [
      'a mapping, too',
      'START.md: { text: a, cost: 1 }',
      [{ when: {}, everyVisit: true, visits: [[says('a', { costUsd: 1 })]] }],
    ],
    [
      'a list is for one visit after the other',
      'START.md: [a, { text: b }]',
      [{ when: {}, everyVisit: false, visits: [[says('a')], [says('b')]] }],
    ],
    [
      'turns are those of one visit',
      'START.md: [{ turns: [a, { fail: refusal }] }]',
      [{ when: {}, everyVisit: false, visits: [[says('a'), says('', { fail: 'refusal' })]] }],
    ],
    ['a name without its extension will do', 'START: a', [{ when: {}, everyVisit: true, visits: [[says('a')]] }]],
  ])('%s', (_, answers, cases) => {
    expect(casesOf(`answers: { ${answers} }`)).toStrictEqual(cases);
  });

  test('with `when` are separate cases, before those for all other agents', () => {
    expect(casesOf('answers: { START.md: [a, { when: { n: 1, b: true }, visits: [b, c] }, d] }')).toStrictEqual([
      { when: { n: '1', b: 'true' }, everyVisit: false, visits: [[says('b')], [says('c')]] },
      { when: {}, everyVisit: false, visits: [[says('a')], [says('d')]] },
    ]);
  });

  test('may be an alias', () => {
    expect(casesOf('answers: { CHECK.sh: &x [a], START.md: *x }')).toStrictEqual(casesOf('answers: { START.md: [a] }'));
  });

  test('have their position', () => {
    const { answers: parts } = read('# x\nanswers:\n  CHECK.sh: a\n\n  START.md: a\n');
    expect([...parts].map(([file, { line }]) => [file, line])).toStrictEqual([
      ['CHECK.sh', 3],
      ['START.md', 5],
    ]);
  });

  test('for the other platform are ignored', () => {
    expect([...read('answers: { CHECK.ps1: a }').answers.keys()]).toStrictEqual([]);
  });
});

describe('a mistake is reported with its place and a hint', () => {
  test.each<[string, string, readonly string[]]>([
    ['an unknown key at the top', 'answrs: {}', ['1:1: the key `answrs` is unknown (did you mean answers?)']],
    ['an unknown key', 'answers:\n  START.md:\n    txet: a', ['3:5: the key `txet` is unknown (did you mean text?)']],
    [
      'a key of a turn in a turn',
      'answers: { START.md: { turns: [{ wen: { a: b }, text: a }] } }',
      [
        '1:34: the key `wen` is unknown: known are text, write, uses, deny, cost, seconds, fail, resets_in, quota, exit, stderr, say, crash, compact',
      ],
    ],
    ['an empty file', '', ['1:1: this file is empty: it must be a mapping with keys such as `answers`']],
    ['a list', '- a', ['1:1: this file must be a mapping with keys such as `answers`, not a list']],
    ['no state', 'answers: a', ['1:10: `answers` must be a mapping of states to answers, not the text `a`']],
    [
      'no answer',
      'answers:\n  START.md:',
      ['2:3: `START.md` must be a text, a mapping or a list of them, not nothing'],
    ],
    ['no answers', 'answers: { START.md: [] }', ['1:22: `START.md` must be a list of at least one, not an empty list']],
    [
      'nothing in a list',
      'answers:\n  START.md:\n    - a\n    -\n',
      ['4:6: entry 2 of `START.md` must be a text or a mapping, not nothing'],
    ],
    ['a text that is nothing', 'answers: { START.md: { text: } }', ['1:24: `text` must be a text, not nothing']],
    [
      'a file that holds nothing',
      'answers: { START.md: { write: { a: } } }',
      ['1:33: `a` must be a text, not nothing'],
    ],
    [
      'a negative cost',
      'answers: { START.md: { text: a, cost: -1 } }',
      ['1:39: `cost` must be a number of at least 0, not `-1`'],
    ],
    [
      'a cost in words',
      'answers: { START.md: { text: a, cost: $1 } }',
      ['1:39: `cost` must be a number of at least 0, not the text `$1`'],
    ],
    [
      'no real number',
      'answers: { START.md: { text: a, seconds: .inf } }',
      ['1:42: `seconds` must be a number of at least 0, not `Infinity`'],
    ],
    [
      'a tool that is no list',
      'answers: { START.md: { uses: Bash } }',
      ['1:30: `uses` must be a list of texts, not the text `Bash`'],
    ],
    [
      'an unknown failure',
      'answers: { START.md: { fail: limit } }',
      [expect.stringMatching(/^1:30: `fail` cannot be `limit`: it is one of overloaded, no_result, /) as string],
    ],
    [
      'a misspelt failure',
      'answers: { START.md: { fail: refusel } }',
      ['1:30: `fail` cannot be `refusel` (did you mean refusal?)'],
    ],
    [
      'nothing said',
      'answers: { START.md: { cost: 1 } }',
      ['1:22: this answer says nothing: give it one of text, write, uses, deny, fail, exit, stderr, crash'],
    ],
    [
      'a limit that is none',
      'answers: { START.md: { text: a, resets_in: 1 } }',
      ['1:33: `resets_in` goes with `fail: usage_limit` or `quota` only: remove it'],
    ],
    [
      'turns and a text',
      'answers: { START.md: { turns: [a], text: b } }',
      ['1:36: `text` cannot be used beside `turns`: move it into one of them'],
    ],
    [
      'visits and turns',
      'answers: { START.md: { when: { a: b }, visits: [a], turns: [b] } }',
      ['1:53: `turns` cannot be used beside `visits`: move it into one of them'],
    ],
    [
      'visits of everybody',
      'answers: { START.md: { visits: [a] } }',
      ['1:24: `visits` needs `when`: without it, write the answers as a list'],
    ],
    [
      'a parent folder',
      'answers: { START.md: { write: { a/../../b: c } } }',
      ['1:33: `a/../../b` leaves the working directory: name a file inside it, without `..`'],
    ],
    [
      'an absolute path',
      'answers: { START.md: { write: { /etc/b: c } } }',
      ['1:33: `/etc/b` leaves the working directory: name a file inside it, without `..`'],
    ],
    [
      'a drive',
      'answers: { START.md: { write: { "C:\\\\b": c } } }',
      ['1:33: `C:\\b` leaves the working directory: name a file inside it, without `..`'],
    ],
    [
      'a folder that holds something',
      'answers: { START.md: { write: { b/: c } } }',
      ['1:33: `b/` is a folder and holds no text: name a file in it'],
    ],
    [
      'a folder elsewhere',
      'answers: { START.md: { write: { ../: } } }',
      ['1:33: `../` leaves the working directory: name a file inside it, without `..`'],
    ],
    ['no folder', 'answers: { START.md: { write: { a//: } } }', ['1:33: `a//` cannot be the name of a file']],
    [
      'an exit code of a prompt',
      'answers: { START.md: [{ exit: 1 }] }',
      ['1:25: `exit` means nothing here: START.md is a prompt'],
    ],
    [
      'a cost of a script',
      'answers: { CHECK.sh: { turns: [{ cost: 1, text: a }] } }',
      ['1:34: `cost` means nothing here: CHECK.sh is a script'],
    ],
    [
      'too large an exit code',
      'answers: { CHECK.sh: { exit: 256 } }',
      ['1:30: `exit` must be a whole number from 0 to 255, not `256`'],
    ],
    [
      'an unknown state',
      'answers: { STRAT: a }',
      ['1:12: there is no state `STRAT` in this workflow (did you mean START?)'],
    ],
    [
      'an ambiguous state',
      'answers: { BOTH: a }',
      ['1:12: the state `BOTH` is ambiguous: BOTH.md and BOTH.sh both exist; write the extension'],
    ],
    ['a state twice', 'answers: { START: a, START.md: b }', ['1:22: `START.md` is START.md again: keep one of them']],
    [
      'a key twice',
      'answers:\n  START.md: a\n  START.md: b',
      ['3:3: `START.md` is given twice: on line 2 and here; keep one of them'],
    ],
    [
      'a list without its end',
      'answers:\n  START.md: [a, b\n  CHECK.sh: a',
      [
        '2:13: this is not valid YAML: this `[` is never closed: add its `]`; if that is on a later line, indent the line',
      ],
    ],
    [
      'a tab',
      'answers:\n\tSTART.md: a',
      ['2:1: this is not valid YAML: use spaces here, not a tab: YAML does not allow tabs as indentation'],
    ],
    [
      'a colon',
      'answers:\n  START.md: a: b',
      ['2:13: this is not valid YAML: a value that contains a colon and a space must be in quotes, or under `|`'],
    ],
    [
      'two documents',
      'answers: {}\n---\nanswers: {}',
      [
        '2:1: this is not valid YAML: this is a second YAML document: keep all keys in one, without `...` or `---` between them',
      ],
    ],
    [
      'an alias of nothing',
      'answers: { START.md: *x }',
      ['1:22: `*x` cannot be used here: nothing before this is marked `&x`'],
    ],
    [
      'an alias of itself',
      'answers: { START.md: &x [{ turns: *x }] }',
      ['1:35: `*x` cannot be used here: it would contain itself'],
    ],
  ])('%s', (_, text, wrong) => {
    expect(wrongWith(text)).toStrictEqual(wrong);
  });

  test('together with all others, in the order of the file', () => {
    expect(
      wrongWith('answers:\n  NO.md: a\n  START.md:\n    - { txt: a }\n    - { text: {} }\n').map((line) =>
        line.slice(0, 4),
      ),
    ).toStrictEqual(['2:3:', '4:9:', '5:15']);
  });
});

test('any file is a scenario or an error with a place', () => {
  const text = fc.oneof(
    fc.string(),
    fc.json().map((json) => `answers: ${json}`),
    fc.json().map((json) => `answers: { START.md: ${json} }`),
    fc.json().map((json) => `answers: { START.md: [{ when: ${json}, turns: ${json} }] }`),
  );
  fc.assert(
    fc.property(text, (each) => {
      for (const line of wrongWith(each)) expect(line).toMatch(/^\d+:\d+: \S/);
    }),
  );
});

test('a file with endless aliases is refused', () => {
  const levels = Array.from({ length: 12 }, (_, at) => `&l${at + 1} [${`*l${at}, `.repeat(9)}*l${at}]`);
  expect(wrongWith(`answers: { START.md: [&l0 a, ${levels.join(', ')}] }`)).toStrictEqual([
    '1:182: there are more than 1000 aliases (`*name`): write the values out',
  ]);
});

test('a file is read as UTF-8 and named in errors', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-scenario-'));
  const file = join(folder, 'a.yaml');
  try {
    writeFileSync(file, '\uFEFFanswers: { START.md: é }\r\n');
    expect(openScenario(file, SCOPE).answers.get('START.md')?.cases[0]?.visits).toStrictEqual([[says('é')]]);
    writeFileSync(file, Buffer.of(0x61, 0xff));
    expect(() => openScenario(file, SCOPE, 'mine.yaml')).toThrow('mine.yaml:1:1: this is not UTF-8 text');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
