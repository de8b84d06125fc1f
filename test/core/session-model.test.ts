import { expect, test } from 'vitest';
import { due } from '../../src/core/turns/due.ts';
import { RunDriver } from './run-driver.ts';

const WORKFLOW = { files: ['START.md', 'NEXT.md', 'SUB.md', 'BACK.md'] };
const OWN = 'claude-opus-4-8[1m]';

/** The model that the conversation gives to the next turn of `main`. */
const nextModel = ({ run }: RunDriver): string | null | undefined =>
  due(run).flatMap((turn) => (turn.kind === 'claude' ? [turn.sessionModel] : []))[0];

const started = () => new RunDriver(WORKFLOW).answer({ text: '<goto>NEXT</goto>', model: OWN });

test('a conversation keeps the model that it reported first', () => {
  const driver = started();
  expect(nextModel(driver)).toBe(OWN);
  driver.answer({ text: 'no tag', model: 'another' });
  expect(nextModel(driver)).toBe(OWN);
  expect(driver.agent().session).toStrictEqual({ kind: 'open', id: 's1', model: OWN });
});

test('a turn for which a model was named changes nothing about that', () => {
  expect(nextModel(started().answer('<goto>BACK</goto>'))).toBe(OWN);
  expect(nextModel(new RunDriver(WORKFLOW).answer('<goto>NEXT</goto>'))).toBe(null);
});

test('a branch has the model of the original, and the caller gets its own back', () => {
  const called = started().answer('<call return="BACK">SUB</call>');
  expect(called.agent().session).toStrictEqual({ kind: 'branch', of: 's1', model: OWN });
  called.answer('<goto>NEXT</goto>');
  expect(called.agent().session).toStrictEqual({ kind: 'open', id: 's2', model: OWN });
  expect(nextModel(called.answer('<result>done</result>'))).toBe(OWN);
});

test('a summary keeps the model, a new conversation begins without one', () => {
  const compacting = started().answer('<compact>SUB</compact>');
  expect(nextModel(compacting)).toBe(OWN);
  expect(nextModel(compacting.answer({ text: '', model: OWN }))).toBe(OWN);
  expect(nextModel(started().answer('<reset>SUB</reset>'))).toBe(null);
});

test('a conversation that cannot be resumed is forked with its model', () => {
  const driver = started().answer({ fail: { kind: 'session_lost', message: 'gone' } });
  expect(driver.agent().session).toStrictEqual({ kind: 'branch', of: 's1', model: OWN });
});

test('a turn that failed midway tells the model, too', () => {
  const failure = { kind: 'transient', message: 'oops' } as const;
  const driver = new RunDriver(WORKFLOW).answer({ fail: failure, progress: 'answer', model: OWN });
  expect(driver.agent().session).toStrictEqual({ kind: 'open', id: 's1', model: OWN });
});
