import { describe, expect, test } from 'vitest';
import { environmentVariables } from '../../src/core/run/variables.ts';
import { hasOwnName, safeNamesWarnings, type VariableOrigin } from '../../src/language/environment-names.ts';
import { RunDriver } from '../core/run-driver.ts';

describe('the own name of a variable in the environment of scripts', () => {
  test.each<[string, readonly VariableOrigin[]]>([
    ['item', ['prompt', 'script', 'user']],
    ['ITEM', ['script', 'user']],
    ['item_2', ['prompt', 'script', 'user']],
    ['2nd', []],
    ['data-size', []],
    ['größe', []],
    ['https_proxy', ['script']],
    ['HTTPS_PROXY', ['script']],
    ['PATH', []],
    ['LD_PRELOAD', []],
    ['GIT_DIR', []],
    ['npm_config_registry', []],
    ['CFLAGS', []],
    ['path', ['prompt', 'script', 'user']],
  ])('%s is given if its name was chosen by one of %j', (name, origins) => {
    const all: readonly VariableOrigin[] = ['prompt', 'script', 'user'];
    expect(all.filter((origin) => hasOwnName(name, origin, 'unix'))).toStrictEqual(origins);
  });

  test('on Windows, where letter case does not count, path is PATH', () => {
    expect(['path', 'item'].map((name) => hasOwnName(name, 'script', 'windows'))).toStrictEqual([false, true]);
  });
});

const FORK = '<fork next="A" item="1" GIT_DIR="2" data-size="3">WORK</fork>';

test.each(['A.md', 'A.sh'])('a script that %s forked finds variables under their safe names, too', (start) => {
  const driver = new RunDriver(
    { files: [start, 'WORK.sh'] },
    { variables: { topic: 'sea', PATH: 'x', item: 'run', nul: 'a\0b' } },
  ).answer(FORK);
  expect(environmentVariables(driver.run, driver.agent('main_work1'))).toStrictEqual({
    topic: 'sea',
    item: '1',
    RAYMOND_VAR_topic: 'sea',
    RAYMOND_VAR_PATH: 'x',
    RAYMOND_VAR_item: '1',
    RAYMOND_VAR_GIT_DIR: '2',
  });
});

test('a worker of an older state file, which does not say who forked it, is treated like one of a prompt', () => {
  const driver = new RunDriver({ files: ['A.sh', 'WORK.sh'] }).answer('<fork next="A" ITEM="1">WORK</fork>');
  const worker = driver.agent('main_work1');
  expect(environmentVariables(driver.run, worker)).toStrictEqual({ ITEM: '1', RAYMOND_VAR_ITEM: '1' });
  expect(environmentVariables(driver.run, { ...worker, forkedBy: null })).toStrictEqual({ RAYMOND_VAR_ITEM: '1' });
});

const AS_SAFE_NAME = 'scripts get the variable `GIT_DIR` as $RAYMOND_VAR_GIT_DIR, not as $GIT_DIR';
const NO_IDENTIFIER = 'scripts do not get the variable `a-b`: only identifiers can be names in an environment';

test.each<[readonly string[], readonly string[]]>([
  [['item'], []],
  [['item', 'GIT_DIR'], [AS_SAFE_NAME]],
  [
    ['a-b', 'GIT_DIR', 'a-b'],
    [AS_SAFE_NAME, NO_IDENTIFIER],
  ],
  [
    ['GIT_DIR', 'LESS', 'a-b', '2nd'],
    [
      'scripts get the variables `GIT_DIR`, `LESS` as $RAYMOND_VAR_GIT_DIR, $RAYMOND_VAR_LESS, not as $GIT_DIR, $LESS',
      'scripts do not get the variables `a-b`, `2nd`: only identifiers can be names in an environment',
    ],
  ],
])('the warnings about the names %j', (names, warnings) => {
  const variables = names.map((name) => [name, 'x'] as const);
  expect(safeNamesWarnings(variables, 'prompt', 'unix')).toStrictEqual(warnings);
});

test('variables that an environment cannot hold are named, and of very many the first ones', () => {
  const nul = [...['a', 'b', 'GIT_DIR'].map((name) => [name, 'x\0y'] as const), ['b', 'fine'] as const];
  expect(safeNamesWarnings(nul, 'prompt', 'unix')).toStrictEqual([
    'scripts do not get the variables `a`, `b`, `GIT_DIR`: an environment cannot hold NUL characters',
  ]);
  const many = Array.from({ length: 13 }, (_, at) => [`a-${at}`, ''] as const);
  expect(safeNamesWarnings(many, 'prompt', 'unix')).toStrictEqual([
    expect.stringMatching(/^scripts do not get the variables `a-0`, .*, `a-9` and 3 more: /),
  ]);
});

test('a fork whose variables scripts will not find under their own names says so in an event', () => {
  const driver = new RunDriver({ files: ['A.md', 'WORK.sh'] }).answer(FORK);
  expect(driver.eventsOf('warning').map(({ message }) => message)).toStrictEqual([
    AS_SAFE_NAME,
    NO_IDENTIFIER.replace('a-b', 'data-size'),
  ]);
});
