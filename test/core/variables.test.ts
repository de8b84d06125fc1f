import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import { getAgent, newRun } from '../../src/core/run/run.ts';
import { promptVariables } from '../../src/core/run/variables.ts';
import { variableNameProblem } from '../../src/language/variable-names.ts';

const FORBIDDEN = [
  'PATH',
  'HOME',
  'IFS',
  'ENV',
  'BASH_ENV',
  'NODE_OPTIONS',
  'LD_PRELOAD',
  'LD_',
  'DYLD_X',
  'RAYMOND_ID',
];

test.each(FORBIDDEN)('%s cannot be a variable', (name) => {
  const message = `\`${name}\` cannot be a variable: scripts would take it for something else; use another name`;
  expect(variableNameProblem(name, 'unix')).toBe(message);
  expect(variableNameProblem(name, 'windows')).toBe(message);
});

test.each(FORBIDDEN)('%s in another letter case is the same on Windows, and a different name on Unix', (name) => {
  expect(variableNameProblem(name.toLowerCase(), 'unix')).toBeUndefined();
  expect(variableNameProblem(name.toLowerCase(), 'windows')).toBe(
    `\`${name.toLowerCase()}\` cannot be a variable: scripts would take it for something else; use another name`,
  );
});

test.each(['item', 'PATHS', 'MY_PATH', 'LD', 'OLD_X', 'RAYMOND', 'ENVIRONMENT', 'data-größe', 'constructor'])(
  '%s can be a variable',
  (name) => {
    expect(variableNameProblem(name, 'unix')).toBeUndefined();
    expect(variableNameProblem(name, 'windows')).toBeUndefined();
  },
);

test('a name that no environment can hold cannot be a variable', () => {
  expect(variableNameProblem('a\0b', 'unix')).toBe('"a\\u0000b" cannot be a variable: it contains a NUL character');
});

const run = newRun({
  id: 'demo-1',
  workflow: { name: 'demo', path: '/demo', platform: 'unix' },
  startedAt: 0,
  options: { ...DEFAULT_OPTIONS, variables: { topic: 'sea', item: 'run', state: 'mine', agent_id: 'mine' } },
  state: 'START.md',
  cwd: '/',
  input: null,
});
const main = getAgent(run, 'main');

test("a prompt can use the run's variables; those of the worker take precedence", () => {
  expect(promptVariables(run, { ...main, variables: { item: 'fork', workflow_id: 'mine' } })).toStrictEqual({
    topic: 'sea',
    item: 'fork',
    workflow_id: 'demo-1',
    agent_id: 'main',
    state: 'START.md',
  });
});

test.each(['a result', ''])('the input has two names: %j', (input) => {
  const variables = promptVariables(run, { ...main, input, variables: { result: 'mine' } });
  expect([variables.result, variables.input]).toStrictEqual([input, input]);
});

test.each(['result', 'state', 'agent_id', 'workflow_id', 'task_folder', 'run_folder'])(
  '%s is reserved: no fork may use the name',
  (name) => {
    expect(variableNameProblem(name, 'unix')).toBe(
      `\`${name}\` cannot be a variable: {{${name}}} has a meaning of its own; use another name`,
    );
  },
);
