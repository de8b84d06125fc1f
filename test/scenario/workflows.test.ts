import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseScenarioFile, resolveWorkflowPaths } from '../../src/scenario/file.ts';
import { readScenario } from '../../src/scenario/read-scenario.ts';
import { readTestSpecs } from '../../src/scenario/read-test-specs.ts';

const ONE = { files: ['START.md', 'ONE.md'], platform: 'unix' } as const;
const TWO = { files: ['START.md', 'TWO.md'], platform: 'unix' } as const;

const file = (text: string) => parseScenarioFile('a.test.yaml', text, 'dir');

describe('the workflow of a scenario', () => {
  test.each([
    ['{}', ['dir']],
    ['workflow: a', ['dir/a']],
    ['scenarios: [{ name: x }, { name: y, workflow: b }]', ['dir', 'dir/b']],
    ['workflow: a\nscenarios: [{ name: x }, { name: y, workflow: b }]', ['dir/a', 'dir/b']],
    ['workflow: 5', ['dir/5']],
  ])('%s', (text, paths) => {
    expect(resolveWorkflowPaths(file(text))).toStrictEqual(paths.map((path) => resolve(path)));
  });
});

describe('scenarios for several workflows', () => {
  const shared = 'answers: { START: s, ONE: o, TWO: t }\n';

  test('take those of the shared answers that their workflow has states for', () => {
    const several = file(`${shared}scenarios: [{ name: x, workflow: a }, { name: y, workflow: b }]`);
    const parts = readTestSpecs(several, [ONE, TWO]).map(({ scenario }) => [...scenario.answers.keys()]);
    expect(parts).toStrictEqual([
      ['START.md', 'ONE.md'],
      ['START.md', 'TWO.md'],
    ]);
  });

  test('may only have answers for states of their own workflow', () => {
    const wrong = file('scenarios: [{ name: x, answers: { ONE: a } }, { name: y, answers: { ONE: a } }]');
    expect(() => readTestSpecs(wrong, [ONE, TWO])).toThrow(
      'a.test.yaml cannot be used: 1 error\na.test.yaml:1:69: there is no state `ONE` in this workflow',
    );
  });

  test('may not share answers for states that none of them has', () => {
    const wrong = file(`${shared.replace('TWO', 'THREE')}scenarios: [{ name: x }, { name: y }]`);
    expect(() => readTestSpecs(wrong, [ONE, TWO])).toThrow('a.test.yaml:1:30: there is no state `THREE`');
  });

  test('can still be read as the answers of a single workflow', () => {
    const text = `${shared}scenarios: [{ name: x, workflow: b, answers: { TWO: u } }, { name: y }]`;
    expect([...readScenario('a.test.yaml', text, ONE).answers.keys()]).toStrictEqual(['START.md', 'ONE.md']);
  });
});
