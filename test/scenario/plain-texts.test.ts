import { expect, test } from 'vitest';
import { RaymondError } from '../../src/errors.ts';
import { parseScenarioFile } from '../../src/scenario/file.ts';
import { readTestSpecs } from '../../src/scenario/read-test-specs.ts';

const SCOPE = { files: ['START.md', 'NAME.md', 'CHECK.sh', '5.md'], platform: 'unix' } as const;

const read = (text: string) => readTestSpecs(parseScenarioFile('a.test.yaml', text, '.'), [SCOPE])[0];

test('a number or a boolean is accepted as a text, exactly as written in the file', () => {
  const scenario = read(`
name: 007
input: 1e3
vars: { price: 1.50, long: 12345678901234567890, yes: True }
files: { n.txt: 0x1F, b.txt: false }
answers:
  START: 7
  NAME: [1.0, { text: +2, write: { a: 3 } }, { turns: [.5] }]
  CHECK: { text: "4", stderr: 08 }
expect:
  result: 5
  results: { main: { contains: [1.10, yes], lacks: 6 } }
  prompts: { NAME: [1.0, { equals: 2.0 }] }
  files: { n.txt: 0x1F }
  path: [START, 5]
`);
  expect(scenario).toMatchObject({
    name: '007',
    input: '1e3',
    files: { 'n.txt': '0x1F', 'b.txt': 'false' },
    options: { variables: { price: '1.50', long: '12345678901234567890', yes: 'True' } },
  });
  const said = (state: string) => scenario?.scenario.answers.get(state)?.cases.flatMap(({ visits }) => visits.flat());
  expect(said('START.md')).toMatchObject([{ text: '7' }]);
  expect(said('NAME.md')).toMatchObject([{ text: '1.0' }, { text: '+2', write: { a: '3' } }, { text: '.5' }]);
  expect(said('CHECK.sh')).toMatchObject([{ text: '4', stderr: '08' }]);
  expect(scenario?.expectations).toMatchObject([
    { kind: 'path', states: ['START.md', '5.md'] },
    { kind: 'result', text: { equals: '5' } },
    { kind: 'result', text: { contains: ['1.10', 'yes'], lacks: ['6'] } },
    { kind: 'prompts', visits: [{ equals: '1.0' }, { equals: '2.0' }] },
    { kind: 'file', text: { equals: '0x1F' } },
  ]);
});

test('an alias of one is accepted, too', () => {
  const scenario = read('vars: { a: &n 1.50 }\ninput: *n\nexpect: { cost: *n, result: *n }');
  expect(scenario).toMatchObject({ input: '1.50', options: { variables: { a: '1.50' } } });
  expect(scenario?.expectations).toMatchObject([
    { kind: 'result', text: { equals: '1.50' } },
    { kind: 'cost', usd: 1.5 },
  ]);
});

test.each([
  ['expect: { cost: "1" }', '1:17: `cost` must be a number of at least 0, or a mapping of states to such numbers'],
  ['answers: { START: { text: 5, cost: true } }', '1:36: `cost` must be a number of at least 0, not `true`'],
  ['answers: { START: { text: 5, crash: 1 } }', '1:37: `crash` must be true or false, not `1`'],
  ['answers: { START: }', '1:12: `START` must be a text, a mapping or a list of them, not nothing'],
])('a text is not accepted as a number: %s', (text, wrong) => {
  expect(() => read(text)).toThrow(RaymondError);
  expect(() => read(text)).toThrow(`a.test.yaml:${wrong}`);
});
