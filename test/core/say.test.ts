import { expect, test } from 'vitest';
import type { SaidSignal } from '../../src/core/signals/signal.ts';
import { due, type PromptTurn } from '../../src/core/turns/due.ts';
import { RunDriver } from './run-driver.ts';

const say = (text: string, isReachable = true, agent = 'main'): SaidSignal => ({
  kind: 'said',
  at: 9,
  about: { agent },
  said: text.slice(0, 1),
  text,
  by: 'anna@laptop',
  saidAt: 8,
  isReachable,
});

const hear = (said: string) => ({ kind: 'heard', at: 10, about: { agent: 'main' }, said }) as const;

const messagesFor = ({ run }: RunDriver): readonly string[] =>
  due(run).flatMap((turn) => (turn.kind === 'claude' ? (turn as PromptTurn).words.map(({ text }) => text) : []));

test('what is said is written into a running turn that can be reached, and is gone once it was heard', () => {
  const driver = new RunDriver({ files: ['START.md', 'A.md'] });
  driver.begin('main');
  expect(driver.apply(say('Hello')).events).toStrictEqual([
    {
      kind: 'said',
      at: 9,
      agent: 'main',
      state: 'START.md',
      said: 'H',
      text: 'Hello',
      by: 'anna@laptop',
      saidAt: 8,
      turn: 1,
      refused: null,
    },
  ]);
  expect(driver.apply(hear('H')).events).toStrictEqual([
    { kind: 'said_delivered', at: 10, agent: 'main', state: 'START.md', said: 'H', turn: 1, via: 'turn' },
  ]);
  expect(driver.apply(hear('H')).events).toStrictEqual([]);
  driver.reply('main', '<goto>A</goto>');
  expect(driver.agent('main').messages).toStrictEqual([]);
  expect(messagesFor(driver)).toStrictEqual([]);
});

test('what was written and not heard is put before the next prompt, after what was said before', () => {
  const driver = new RunDriver({ files: ['START.md', 'A.md'] });
  driver.begin('main');
  driver.apply(say('First'));
  driver.apply(say('Second', false));
  driver.reply('main', '<goto>A</goto>');
  expect(messagesFor(driver)).toStrictEqual(['First', 'Second']);
  driver.begin('main');
  expect(
    driver.events.flatMap((event) => (event.kind === 'said_delivered' ? [event.said, event.via] : [])),
  ).toStrictEqual(['F', 'prompt', 'S', 'prompt']);
  driver.reply('main', '<result>x</result>');
  expect(driver.agent('main').messages).toStrictEqual([]);
});

test('a turn that never got its prompt leaves what was said for the next attempt; one that did has it', () => {
  const driver = new RunDriver({ files: ['START.md'] });
  driver.apply(say('Hello', false));
  driver.begin('main');
  driver.reply('main', { fail: { kind: 'lost', message: 'gone' }, progress: 'none' });
  expect(messagesFor(driver)).toStrictEqual(['Hello']);
  driver.begin('main');
  driver.reply('main', { fail: { kind: 'lost', message: 'gone' }, progress: 'prompt' });
  expect(messagesFor(driver)).toStrictEqual([]);
});

test('a script, a summary and an evaluator do not hear; the next prompt does', () => {
  const driver = new RunDriver({ files: ['START.sh', 'A.md'] });
  driver.begin('main');
  expect(driver.apply(say('Hello')).events).toMatchObject([{ turn: null, refused: null }]);
  driver.reply('main', '<goto>A</goto>');
  expect(messagesFor(driver)).toStrictEqual(['Hello']);
});

test('the same words are taken up once, and nobody hears after the end', () => {
  const driver = new RunDriver({ files: ['START.md'] });
  driver.apply(say('Hello', false));
  expect(driver.apply(say('Hello')).events).toStrictEqual([]);
  expect(driver.apply(say('You', true, 'nobody')).events).toMatchObject([{ refused: 'there is no agent nobody' }]);
  driver.begin('main');
  driver.apply(say('Late'));
  driver.reply('main', '<result>x</result>');
  expect(driver.events.filter(({ kind }) => kind === 'warning')).toMatchObject([
    { message: 'START.md: main has ended without having heard what was said to it: Late' },
  ]);
  expect(driver.apply(say('More')).events).toMatchObject([{ refused: 'main has ended' }]);
});
