import { expect, test } from 'vitest';
import type { Signal } from '../../src/core/signals/signal.ts';
import { due } from '../../src/core/turns/due.ts';
import { RunDriver } from './run-driver.ts';

const ANSWER = { text: 'Yes.', by: 'anna@laptop', answeredAt: 11, files: [] };

test.each<[string, Signal]>([
  ['an answer', { kind: 'ask_answered', at: 12, agent: 'main', ask: 'main-1', ...ANSWER }],
  ['the end of its time', { kind: 'ask_timed_out', at: 12, agent: 'main', ask: 'main-1' }],
])('%s that comes just after the run has ended is left to a resume', (_, signal) => {
  const driver = new RunDriver({ files: ['START.md', 'A.md'] }, { onAsk: 'exit' });
  driver.answer('<ask next="A" timeout="1h" timeout_next="A">Really?</ask>');
  const { status, agents } = driver.run;
  expect(status).toBe('waiting');
  expect(driver.apply(signal).events).toStrictEqual([]);
  expect(driver.run).toMatchObject({ status, agents });
  expect(due(driver.run)).toStrictEqual([]);
});
