import { expect, test } from 'vitest';
import { END_STATUSES } from '../../src/core/run/run.ts';
import { deriveObservedStatus, isFinished, isLive, type ObservedStatus } from '../../src/core/run/status.ts';

const RUNNING = { status: 'running', stop: null } as const;

test.each([
  [null, 'crashed'],
  ['gone', 'crashed'],
  ['alive', 'running'],
  ['elsewhere', 'elsewhere'],
  ['unreadable', 'elsewhere'],
] as const)('a run that says it is running, with an owner that is %s, is %s', (owner, expected) => {
  expect(deriveObservedStatus(RUNNING, owner)).toBe(expected);
});

test('a run that is told to stop is stopping as long as its owner lives', () => {
  const stopping = { ...RUNNING, stop: { kind: 'stopped' } } as const;
  expect([deriveObservedStatus(stopping, 'alive'), deriveObservedStatus(stopping, 'gone')]).toStrictEqual([
    'stopping',
    'crashed',
  ]);
});

test.each(END_STATUSES)('a run that says it is %s is that, whatever became of its owner', (status) => {
  expect(deriveObservedStatus({ status, stop: { kind: 'interrupted' } }, 'gone')).toBe(status);
  expect(isLive(status)).toBe(false);
});

test('a run is finished or live or can be resumed', () => {
  const all: readonly ObservedStatus[] = ['running', 'stopping', 'crashed', 'elsewhere', ...END_STATUSES];
  expect(all.filter(isFinished)).toStrictEqual(['completed', 'failed']);
  expect(all.filter(isLive)).toStrictEqual(['running', 'stopping', 'elsewhere']);
});
