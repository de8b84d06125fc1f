import { expect, test } from 'vitest';
import { RunDriver } from './run-driver.ts';

test('a warning about a running turn is on record, and changes nothing else', () => {
  const driver = new RunDriver({ files: ['START.md'] });
  driver.begin('main');
  const before = driver.run;
  const about = { agent: 'main', state: 'START.md' };
  const { run, events } = driver.apply({ kind: 'noticed', at: 7, about, message: 'odd' });
  expect(run).toStrictEqual({ ...before, seq: before.seq + 1 });
  expect(events).toStrictEqual([{ kind: 'warning', at: 7, ...about, message: 'odd' }]);
});
