import { describe, expect, test } from 'vitest';
import { replaceAgent } from '../../src/core/run/agent-index.ts';
import { keptAnswers } from '../../src/core/signals/resumed.ts';
import type { Signal } from '../../src/core/signals/signal.ts';
import { RunDriver, usd } from './run-driver.ts';

const files = ['START.md', 'WORK.md', 'S.sh'];
const AT = { at: 5000, agent: 'main' };
const RULES = { policy: [], maxVisits: null };
const began: Signal = { kind: 'began', ...AT, sessionId: 's', rules: RULES, warnings: [] };
const unreadable: Signal = { kind: 'unreadable', ...AT, message: 'START.md is gone' };

describe('a signal that does not fit its agent is a mistake of the caller', () => {
  test('an agent that runs can neither begin a turn nor read its state nor wake', () => {
    const driver = new RunDriver({ files });
    driver.begin('main');
    expect(() => driver.apply(began)).toThrow('main is running: it cannot begin a turn');
    expect(() => driver.apply(unreadable)).toThrow('main is running: it does not read its state');
    expect(() => driver.apply({ kind: 'woke', ...AT })).toThrow('main is running: it cannot wake');
  });

  test('an agent that does not run has no turn to end', () => {
    expect(() => new RunDriver({ files }).reply('main', '<result>r</result>')).toThrow(
      'main is ready: it has no turn to end',
    );
  });

  test('an agent that does not exist can do nothing', () => {
    const driver = new RunDriver({ files });
    expect(() => driver.apply({ ...began, agent: 'other' })).toThrow('run run-1 has no agent other');
    expect(() => replaceAgent(driver.run.agents, 1, driver.agent())).toThrow('agent main is not at index 1');
  });
});

test('warnings that come with a turn are told before it starts', () => {
  const driver = new RunDriver({ files });
  driver.apply({ ...began, warnings: ['{{x}} is unknown'] });
  expect(driver.events.slice(-2)).toMatchObject([
    { kind: 'warning', agent: 'main', state: 'START.md', message: '{{x}} is unknown' },
    { kind: 'turn_started', agent: 'main', turn: 1 },
  ]);
});

describe('a conversation that Claude Code chose instead of ours', () => {
  test('is the one that the agent continues in, and a warning says so', () => {
    const driver = new RunDriver({ files }).answer({ text: '<goto>WORK</goto>', reportedSession: 'other' });
    expect(driver.agent().session).toStrictEqual({ kind: 'open', id: 'other' });
    expect(driver.eventsOf('turn_ended')).toMatchObject([{ session: 'other' }]);
    expect(driver.eventsOf('warning')).toMatchObject([
      {
        message:
          'START.md: Claude Code used the conversation other instead of the one it was given; the agent continues in that one',
      },
    ]);
  });

  test('is resumed after a failure', () => {
    const driver = new RunDriver({ files });
    driver.answer({
      fail: { kind: 'transient', message: 'gone' },
      progress: 'answer',
      reportedSession: 'other',
    });
    expect(driver.agent().session).toStrictEqual({ kind: 'open', id: 'other' });
  });
});

test('a state that cannot be read when the run is stopping pauses its agent: no limit is reported', () => {
  const driver = new RunDriver({ files }, { maxIterations: 1 }).answer('<fork next="WORK">START</fork>');
  driver.apply({ kind: 'stopped', at: 4000, by: 'stopped' });
  driver.apply(unreadable);
  expect(driver.agent().phase).toStrictEqual({
    kind: 'paused',
    why: 'unreadable',
    message: 'START.md is gone',
    prompt: { kind: 'state' },
  });
  expect(driver.run.stop).toStrictEqual({ kind: 'stopped' });
});

test('a turn that begins although others have taken the whole budget gets the smallest cap there is', () => {
  const driver = new RunDriver({ files }, { budgetMicros: 1_000_000 });
  driver.answer({ text: '<fork next="START">WORK</fork>', cost: usd(0.9) });
  driver.begin('main');
  driver.apply({ ...began, agent: 'main_work1' });
  expect(driver.agent('main_work1').phase).toMatchObject({ kind: 'running', turn: { capMicros: 1 } });
});

test('a failure after no retry says that it was tried once', () => {
  const driver = new RunDriver({ files }, { retries: 0 });
  driver.answer({ fail: { kind: 'transient', message: 'API overloaded' } });
  expect(driver.agent().phase).toMatchObject({
    kind: 'failed',
    message: 'START.md: API overloaded (tried 1 time)',
  });
});

test('of two usage limits, the one that ends later holds the run', () => {
  const driver = new RunDriver({ files }).answer('<fork next="START">WORK</fork>');
  for (const agent of ['main', 'main_work1']) driver.begin(agent);
  const limit = (untilMs: number) => ({ fail: { kind: 'usage_limit', message: `until ${untilMs}`, untilMs } }) as const;
  driver.reply('main', limit(90_000)).reply('main_work1', limit(80_000));
  expect(driver.run.hold).toStrictEqual({ untilMs: 90_000, message: 'until 90000' });
});

describe('the answers that a resume follows', () => {
  test('are those that were withheld at a limit', () => {
    const driver = new RunDriver({ files }, { budgetMicros: 1_000_000 });
    driver.answer('<fork next="START">WORK</fork>', { text: '<goto>WORK</goto>', cost: usd(2) });
    expect(keptAnswers(driver.run).map(({ agent, text }) => [agent.id, text])).toStrictEqual([
      ['main', '<goto>WORK</goto>'],
    ]);
  });

  test('are those that could not be followed because a folder was refused', () => {
    const answer = '<reset cd="../other">WORK</reset>';
    const driver = new RunDriver({ files: ['S.sh', 'WORK.md'] });
    driver.answer({ text: answer, folders: { '../other': { refused: 'it is outside of the project' } } });
    expect(driver.agent().phase).toMatchObject({
      kind: 'paused',
      message: expect.stringContaining('this state may not change to `../other`: it is outside of the project'),
    });
    expect(keptAnswers(driver.run).map(({ text }) => text)).toStrictEqual([answer]);
    driver.resume({}, false, { main: { '../other': '/other' } });
    expect(driver.agent()).toMatchObject({ state: 'WORK.md', cwd: '/other', phase: { kind: 'ready' } });
    expect(keptAnswers(driver.run)).toStrictEqual([]);
  });
});

describe('turns that the journal has no record of', () => {
  const script = { number: 2, state: 'S.sh', session: null, cost: null, startedAt: 2000, endedAt: 2500 };
  const claude = { number: 3, state: 'WORK.md', session: 'lost', cost: usd(0.4), startedAt: 3000, endedAt: 3500 };
  const message = 'the end of the journal is lost';
  const report = (enter: boolean): Signal => ({ kind: 'unrecorded', ...AT, message, turns: [script, claude], enter });

  test('pause the agent until the user has decided: what they did may be done again', () => {
    const driver = new RunDriver({ files }).answer('<goto>START</goto>');
    driver.apply(report(false));
    expect(driver.agent()).toMatchObject({ turns: 1, phase: { kind: 'paused', why: 'interrupted', message } });
    expect(driver.run.ledger.spentMicros).toBe(0);
  });

  test('are entered with their costs, and the agent continues behind them in its own state', () => {
    const driver = new RunDriver({ files }).answer('<goto>START</goto>');
    driver.apply(report(true));
    expect(driver.agent()).toMatchObject({ state: 'START.md', turns: 3, phase: { kind: 'ready' } });
    expect(driver.run.ledger.spentMicros).toBe(400_000);
    expect(driver.eventsOf('warning').map((event) => event.message)).toStrictEqual([message]);
    expect(driver.eventsOf('turn_started').map(({ turn, state, session }) => [turn, state, session])).toStrictEqual([
      [1, 'START.md', { kind: 'new', id: 's1' }],
      [2, 'S.sh', null],
      [3, 'WORK.md', { kind: 'new', id: 'lost' }],
    ]);
    driver.begin('main');
    expect(driver.agent().turns).toBe(4);
  });

  test('are reported only for an agent that is about to begin a turn', () => {
    const driver = new RunDriver({ files });
    driver.begin('main');
    expect(() => driver.apply(report(true))).toThrow('main is running: it is not about to begin a turn');
  });
});
