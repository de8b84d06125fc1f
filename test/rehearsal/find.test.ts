import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RaymondError } from '../../src/errors.ts';
import { findFiles } from '../../src/rehearsal/find.ts';
import { readRepertoire } from '../../src/rehearsal/repertoire.ts';
import { folderWith, verdictsIn } from './rig.ts';

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
    expect(findFiles(paths, folderWith(files))).toStrictEqual(found);
  });

  test('are not looked for behind links, which may lead round in a circle', () => {
    const folder = folderWith(files);
    symlinkSync(folder, join(folder, 'a', 'again'));
    expect(findFiles(['.'], folder)).toHaveLength(3);
  });

  test.each([
    ['nowhere', 'there is no nowhere'],
    ['.', 'there are no scenarios in this folder'],
    ['sub', 'there are no scenarios in sub'],
    ['START.md', 'START.md is no scenario file'],
  ])('%s is refused: %s', (path, message) => {
    const folder = folderWith({ 'START.md': 'x', 'sub/x.txt': '' });
    expect(() => findFiles([path], folder)).toThrow(expect.objectContaining({ message, exitCode: 64 }));
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
    expect((await verdictsIn(folder)).map(({ differences }) => differences)).toStrictEqual([[]]);
  });
});

test('a file that cannot be used does not keep the others from being played', async () => {
  const folder = folderWith({
    'START.md': 'Go.',
    'a.test.yaml': 'answrs: {}',
    'b.test.yaml': SAYS,
    'c/c.test.yaml': SAYS,
  });
  const { pieces, unusable } = await readRepertoire(findFiles(['.'], folder), folder);
  expect(pieces.map(({ file }) => file)).toStrictEqual(['b.test.yaml']);
  expect(unusable.map(({ file, error }) => [file, error.exitCode, error.message])).toStrictEqual([
    [
      'a.test.yaml',
      65,
      'a.test.yaml cannot be used: 1 error\na.test.yaml:1:1: the key `answrs` is unknown (did you mean answers?)',
    ],
    [
      'c/c.test.yaml',
      65,
      'c cannot be run: 1 error\nc: there is no state to start in: name one 1_START.md or START.md',
    ],
  ]);
  for (const { error } of unusable) expect(error).toBeInstanceOf(RaymondError);
});
