import { expect, test } from 'vitest';
import type { InterruptSignal } from '../../src/core/signals/signal.ts';
import { due } from '../../src/core/turns/due.ts';
import { RunDriver } from './run-driver.ts';

const interrupt = (text: string | null, agent = 'main'): InterruptSignal => ({
  kind: 'interrupt',
  at: 9,
  about: { agent },
  interrupt: 'i1',
  text,
  by: 'anna@laptop',
  saidAt: 8,
});

const STOPPED = { fail: { kind: 'stopped', message: 'ended' }, progress: 'answer' } as const;

/** A run whose first turn was interrupted and has ended. */
function interrupted(text: string | null, reply: Parameters<RunDriver['reply']>[1] = STOPPED): RunDriver {
  const driver = new RunDriver({ files: ['START.md', 'A.md'] }, { onAsk: 'wait' });
  driver.begin('main');
  driver.apply(interrupt(text));
  return driver.reply('main', reply);
}

const nextTurn = ({ run }: RunDriver): unknown => due(run)[0];

test.each([
  ['was ended', STOPPED],
  ['failed for another reason', { fail: { kind: 'transient', message: 'x' }, progress: 'answer' }],
  ['answered just then', '<goto>A</goto>'],
] as const)('a turn that %s continues with the words in its state and conversation', (_, reply) => {
  const driver = interrupted('Start over', reply);
  expect(driver.agent()).toMatchObject({ state: 'START.md', retries: 0, interruption: null });
  expect(nextTurn(driver)).toMatchObject({ prompt: { kind: 'said' }, words: [{ text: 'Start over' }] });
  expect(driver.events.filter(({ kind }) => kind === 'turn_ended')).toMatchObject([{ failure: 'broken_off' }]);
  driver.begin('main');
  expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1']);
  driver.reply('main', '<goto>A</goto>');
  expect(driver.agent()).toMatchObject({ state: 'A.md', messages: [] });
});

test('without words the person is asked, and the answer is the next prompt', () => {
  const driver = interrupted(null);
  expect(driver.agent().phase).toMatchObject({ kind: 'asking', ask: 'main-1', interrupted: { kind: 'said' } });
  const answer = { ask: 'main-1', text: 'Start over', by: 'anna@laptop', answeredAt: 11, files: [] };
  const { events } = driver.apply({ kind: 'ask_answered', at: 12, agent: 'main', ...answer });
  expect(events.map(({ kind }) => kind)).toStrictEqual(['ask_answered']);
  expect(nextTurn(driver)).toMatchObject({
    state: 'START.md',
    prompt: { kind: 'said' },
    words: [{ text: 'Start over' }],
  });
});

test('an empty answer lets it continue where it was', () => {
  const driver = interrupted(null);
  const answer = { ask: 'main-1', text: ' ', by: 'anna@laptop', answeredAt: 11, files: [] };
  driver.apply({ kind: 'ask_answered', at: 12, agent: 'main', ...answer });
  expect(nextTurn(driver)).toMatchObject({ prompt: { kind: 'continue' }, words: [] });
});

test('if the conversation has nothing of the turn, its prompt is sent again, after the words', () => {
  const driver = interrupted('Start over', { ...STOPPED, progress: 'none' });
  expect(nextTurn(driver)).toMatchObject({ prompt: { kind: 'state' }, words: [{ text: 'Start over' }] });
});

test('a turn with only words that fails continues if the conversation has them, else they are sent again', () => {
  const driver = interrupted('Start over');
  driver.begin('main');
  driver.reply('main', { fail: { kind: 'lost', message: 'x' }, progress: 'none' });
  expect(nextTurn(driver)).toMatchObject({ prompt: { kind: 'said' }, words: [{ text: 'Start over' }] });
  driver.begin('main');
  driver.reply('main', { fail: { kind: 'lost', message: 'x' }, progress: 'prompt' });
  expect(nextTurn(driver)).toMatchObject({ prompt: { kind: 'continue' }, words: [] });
});

test('what cannot be interrupted says why, and nothing changes', () => {
  const refusal = (driver: RunDriver, signal: InterruptSignal): unknown => {
    const before = driver.run;
    const { run, events } = driver.apply(signal);
    expect(run).toStrictEqual({ ...before, seq: before.seq + 1 });
    return events.map((event) => (event.kind === 'turn_interrupted' ? event.refused : event));
  };
  const driver = new RunDriver({ files: ['START.sh', 'A.md'] }, { onAsk: 'fail' });
  expect(refusal(driver, interrupt('x'))).toStrictEqual(['no turn of main is running']);
  expect(refusal(driver, interrupt('x', 'worker'))).toStrictEqual(['there is no agent worker']);
  driver.begin('main');
  expect(refusal(driver, interrupt('x'))).toStrictEqual([
    'START.sh is a script, which cannot be interrupted and continue',
  ]);
  driver.reply('main', '<goto>A</goto>');
  driver.begin('main');
  expect(refusal(driver, interrupt(null))).toStrictEqual(['nobody is to be asked how it continues (--on-ask fail)']);
  driver.apply(interrupt('x'));
  expect(refusal(driver, { ...interrupt('y'), interrupt: 'i2' })).toStrictEqual(['main is being interrupted already']);
  driver.reply('main', STOPPED);
  driver.begin('main');
  driver.reply('main', '<result>x</result>');
  expect(refusal(driver, interrupt('x'))).toStrictEqual(['main has ended']);
});
