import { expect, test } from 'vitest';
import { findSizeProblem } from '../../src/core/answers/follow-answer.ts';
import { RunDriver } from './run-driver.ts';

const { run } = new RunDriver({ files: ['START.md'] });
const answerOf = (text: string) =>
  ({ text, denials: [], folders: {}, scope: { files: [], platform: 'unix' }, at: 0 }) as const;

test('a large answer is refused if the run could not be saved with it', () => {
  const step = { run, events: [] };
  const size = JSON.stringify(run.agents[0]).length;
  const large = answerOf('x'.repeat(20_000));
  expect(findSizeProblem(large, step, size)).toBeUndefined();
  expect(findSizeProblem(large, step, size - 1)).toMatchObject({ kind: 'too_large' });
  expect(findSizeProblem(answerOf('x'), step, size - 1)).toBeUndefined();
});

test('files that an answer hands over count, too', () => {
  const answer = { ...answerOf('x'), files: { 'a.json': { text: 'x'.repeat(20_000) } } };
  expect(findSizeProblem(answer, { run, events: [] }, 10)).toMatchObject({ kind: 'too_large' });
});
