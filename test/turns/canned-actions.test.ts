import { expect, test } from 'vitest';
import { readScenario } from '../../src/scenario/read-scenario.ts';
import { listCannedActions } from '../../src/turns/replay/output.ts';

test('a folder of an answer is created by a command, as Claude Code does', () => {
  const { answers: parts } = readScenario('a.yaml', 'answers: { START: { write: { inbox/: , a.txt: b } } }', {
    files: ['START.md'],
    platform: 'unix',
  });
  const answer = parts.get('START.md')?.cases[0]?.visits[0]?.[0];
  expect(answer && listCannedActions(answer)).toStrictEqual([
    { doing: { kind: 'uses', tool: 'Bash', detail: 'mkdir -p inbox/' }, file: ['inbox/', ''], denied: false },
    { doing: { kind: 'uses', tool: 'Write', detail: 'a.txt' }, file: ['a.txt', 'b'], denied: false },
  ]);
});
