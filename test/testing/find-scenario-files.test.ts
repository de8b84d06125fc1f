import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RaymondError } from '../../src/errors.ts';
import { findScenarioFiles } from '../../src/testing/find-scenario-files.ts';
import { readTestSuite } from '../../src/testing/suite.ts';
import { folderWith, resultsIn } from './rig.ts';

const SAYS = 'answers: { START: <result>r</result> }';

describe('scenario files', () => {
  const files = {
    'b.test.yaml': SAYS,
    'a/x.test.yml': SAYS,
    'a/tests/y.test.yaml': SAYS,
    'a/answers.yaml': SAYS,
    '.hidden/z.test.yaml': SAYS,
    'node_modules/p/z.test.yaml': SAYS,
  };

  test.each([
    [['.'], ['b.test.yaml', 'a/x.test.yml', 'a/tests/y.test.yaml']],
    [['a'], ['a/x.test.yml', 'a/tests/y.test.yaml']],
    [
      ['a/tests', 'a/tests/y.test.yaml', './a'],
      ['a/tests/y.test.yaml', 'a/x.test.yml'],
    ],
    [['a/answers.yaml'], ['a/answers.yaml']],
    [['.hidden'], ['.hidden/z.test.yaml']],
  ])('%j are %j', (paths, found) => {
    expect(findScenarioFiles(paths, folderWith(files))).toStrictEqual({ files: found, withoutScenarios: [] });
  });

  test('are not searched behind links, which may be circular', () => {
    const folder = folderWith(files);
    symlinkSync(folder, join(folder, 'a', 'again'));
    expect(findScenarioFiles(['.'], folder).files).toHaveLength(3);
  });

  test.each([
    ['nowhere', 'there is no nowhere'],
    ['.', 'there are no scenarios in this folder'],
    ['sub', 'there are no scenarios in sub'],
    ['START.md', 'there are no scenarios for START.md'],
    ['sub/x.txt', 'sub/x.txt is not a scenario file'],
  ])('%s is refused: %s', (path, message) => {
    const folder = folderWith({ 'START.md': 'x', 'sub/x.txt': '' });
    expect(() => findScenarioFiles([path], folder)).toThrow(expect.objectContaining({ message, exitCode: 64 }));
  });
});

describe('a path from workflows/* does not prevent the other scenarios from running:', () => {
  const files = {
    'w/a/START.md': 'Go.',
    'w/a/a.test.yaml': SAYS,
    'w/b/START.md': 'Go.',
    'w/b/tests/b.test.yaml': SAYS,
    'w/README.md': '# Workflows',
    'w/notes.txt': '',
    'w/run.sh': '',
    'w/c/START.md': 'Go.',
    'w/d.zip': '',
  };

  test('a path without scenarios is skipped, and workflows among them are named', () => {
    const paths = ['README.md', 'a', 'b', 'c', 'd.zip', 'notes.txt', 'run.sh'].map((name) => join('w', name));
    expect(findScenarioFiles(paths, folderWith(files))).toStrictEqual({
      files: [join('w/a', 'a.test.yaml'), join('w/b/tests', 'b.test.yaml')],
      withoutScenarios: [join('w', 'c'), join('w', 'd.zip')],
    });
  });

  test('the scenarios of a zip or a state file are beside it', () => {
    const beside = {
      'w/d.test.yaml': 'workflow: d.zip',
      'w/tests/s.test.yaml': 'workflow: ../run.sh',
      'w/list.test.yaml': 'scenarios: [{ name: x, workflow: d.zip }]',
      'w/broken.test.yaml': '[',
    };
    const folder = folderWith({ ...files, ...beside });
    const found = ['d.test.yaml', 'list.test.yaml'].map((name) => join('w', name));
    expect(findScenarioFiles([join('w', 'd.zip')], folder)).toStrictEqual({ files: found, withoutScenarios: [] });
    expect(findScenarioFiles([join('w', 'run.sh')], folder).files).toStrictEqual([join('w/tests', 's.test.yaml')]);
  });

  test('a missing path is an error, and so is the absence of all scenarios', () => {
    const folder = folderWith(files);
    expect(() => findScenarioFiles(['w/a', 'w/nowhere'], folder)).toThrow('there is no w/nowhere');
    expect(() => findScenarioFiles(['w/c', 'w/README.md'], folder)).toThrow(
      'there are no scenarios in any of these paths',
    );
  });
});

describe('the workflow of a scenario', () => {
  test.each([
    ['x.test.yaml', '', 'x.test.yaml'],
    ['tests/x.test.yaml', '', 'tests/x.test.yaml'],
    ['elsewhere/x.test.yaml', 'workflow: ..\n', 'elsewhere/x.test.yaml'],
    ['elsewhere/x.test.yaml', 'workflow: ../START.md\n', 'elsewhere/x.test.yaml'],
  ])('is found from %s with %j', async (file, key) => {
    const folder = folderWith({ 'START.md': 'Go.', [file]: `${key}${SAYS}\nexpect: { result: r }` });
    expect((await resultsIn(folder)).map(({ differences }) => differences)).toStrictEqual([[]]);
  });
});

test('an invalid file does not prevent the others from running', async () => {
  const folder = folderWith({
    'START.md': 'Go.',
    'a.test.yaml': 'answrs: {}',
    'b.test.yaml': SAYS,
    'c/c.test.yaml': SAYS,
  });
  const { testCases, unusable } = await readTestSuite(findScenarioFiles(['.'], folder).files, folder);
  expect(testCases.map(({ file }) => file)).toStrictEqual(['b.test.yaml']);
  expect(unusable.map(({ file, error }) => [file, error.exitCode, error.message])).toStrictEqual([
    [
      'a.test.yaml',
      65,
      'a.test.yaml cannot be used: 1 error\na.test.yaml:1:1: the key `answrs` is unknown (did you mean answers?)',
    ],
    ['c/c.test.yaml', 65, 'c cannot be run: 1 error\nc: there is no state to start in: add a START.md or 1_START.md'],
  ]);
  for (const { error } of unusable) expect(error).toBeInstanceOf(RaymondError);
});

test('a scenario may have its own workflow', async () => {
  const files = {
    'one/START.md': 'Go. Say <result>r</result>.',
    'two/START.md': 'Go. Say <result>r</result>.',
    'two/END.md': 'Go. Say <result>r</result>.',
    'a.test.yaml': `
answers: { START: <result>1</result> }
scenarios:
  - { name: one, workflow: one, expect: { result: 1 } }
  - { name: two, workflow: two, answers: { START: <goto>END</goto>, END: <result>2</result> }, expect: { result: 2 } }`,
  };
  const results = await resultsIn(folderWith(files));
  expect(results.map(({ differences }) => differences)).toStrictEqual([[], []]);
});

test('problems of a file are reported before those of its folder', async () => {
  const folder = folderWith({
    'w/START.md': 'Go. Say <result>r</result>.',
    'a.test.yaml': 'scenarios: [{ name: a, worfklow: w }]',
  });
  await expect(resultsIn(folder)).rejects.toThrow(
    'a.test.yaml:1:24: the key `worfklow` is unknown (did you mean workflow?)',
  );
});
